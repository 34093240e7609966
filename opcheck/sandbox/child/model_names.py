"""Prints the models that a library knows, as JSON: ``… opcheck.sandbox.child.model_names KIND``."""

import json
import os
import sys
import tempfile

from opcheck.errors import OpcheckError
from opcheck.model.codec import to_json
from opcheck.sandbox.limits.confine import tools_environment
from opcheck.source.load import kinds


def main() -> None:
    """Answer for one source kind; what libraries print goes elsewhere."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    kind = next(kind for kind in kinds() if kind.name == sys.argv[1])
    # libraries make folders for settings and caches when they are imported
    with tempfile.TemporaryDirectory(prefix="opcheck-") as scratch:
        places = tools_environment(scratch)
        for folder in places.values():
            os.makedirs(folder, exist_ok=True)
        os.environ.update(places)
        try:
            json.dump({"names": list(kind.names())}, out)
        except OpcheckError as error:
            json.dump({"error": [to_json(error.message), to_json(error.hint)]}, out)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
