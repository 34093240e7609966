"""What Python programs import."""

import opcheck
import opcheck.runtime
import opcheck.testing
from handbook.base import Page
from opcheck import errors
from opcheck.errors import InferenceError

_HEAD = """\
# Python API

What programs may rely on. Everything else of the package may change with any release.
"""
_REST = """\
## Errors

::: opcheck.errors
    options:
      members: [{errors}]
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 3

## The report

`opcheck.scan` gives a `Report`; `opcheck scan --format json` writes the same, by
[its schema](schemas.md).

::: opcheck.model.report
    options:
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 3

::: opcheck.model.verdict
    options:
      show_root_heading: false
      show_root_toc_entry: false
      heading_level: 3
"""
_EMULATE = """\
::: opcheck.emulate.session.Emulator
    options:
      heading: opcheck.emulate
      toc_label: opcheck.emulate
"""


_RUNTIME = [name for name in opcheck.runtime.__all__ if name != InferenceError.__name__]
"""Its error stands among the others."""


class PythonApi(Page):
    """``reference/python.md``; the site's builder puts signatures and docstrings in."""

    name = "python"

    def text(self) -> str:
        """What is public, by name."""
        public = [f"opcheck.{name}" for name in opcheck.__all__ if not name.startswith("_")]
        public += [f"opcheck.testing.{name}" for name in opcheck.testing.__all__]
        public += [f"opcheck.runtime.{name}" for name in _RUNTIME]
        parts = map(_entry, public)
        return "\n".join([_HEAD, *parts, _REST.format(errors=", ".join(_errors()))])


def _entry(name: str) -> str:
    if name == "opcheck.emulate":
        return _EMULATE
    return f"::: {name}\n    options:\n      heading: {name}\n      toc_label: {name}\n"


def _errors() -> list[str]:
    """The exit codes, and every error, in the order of their module."""
    kinds = (name for name, value in vars(errors).items() if isinstance(value, type))
    return [name for name in kinds if getattr(errors, name).__module__ == errors.__name__]
