"""What Python programs import."""

from handbook.base import Page

_PAGE = """\
# Python API

Everything else of the package may change with any release.

::: opcheck.scan

::: opcheck.emulate.session.Emulator
    options:
      heading: "emulate"
      toc_label: "emulate"

## Errors

::: opcheck.errors
    options:
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


class PythonApi(Page):
    """``reference/python.md``; the site's builder puts signatures and docstrings in."""

    name = "python"

    def text(self) -> str:
        """What is public, by name."""
        return _PAGE
