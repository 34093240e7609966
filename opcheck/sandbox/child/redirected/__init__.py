"""What a script writes, in a folder aside, where the system has no overlays for its process.

Python's own functions are replaced: what they write goes aside, and what they read is looked for
there first. Code that is not Python's, and programs that are started, know nothing of it: what they
write is refused.
"""

import sys
from collections.abc import Sequence

from opcheck.sandbox.child.redirected.calls import Calls
from opcheck.sandbox.child.redirected.libraries import Written
from opcheck.sandbox.child.redirected.tree import Tree


def redirect(folders: Sequence[str], aside: str) -> Calls:
    """Have what this process writes in these folders lie below ``aside``, for good.

    Args:
        folders: real paths, none within another.
        aside: an empty folder in none of them.
    """
    calls = Calls(Tree(folders, aside))
    calls.replace()
    sys.meta_path.append(Written(calls))
    return calls
