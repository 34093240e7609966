"""mkdocs' hooks: pages are made from the code, and links that leave ``docs/`` stay in the site."""

import re
from typing import Any

from mkdocs.structure.files import File

from handbook.base import pages
from handbook.schema import FILES
from opcheck.site import SITE

_SCHEMA = re.compile(r"\]\(\.\./opcheck/views/schema/(?P<name>[\w.-]+\.json)\)")


def on_config(config: Any) -> Any:
    """Tell where the site is published."""
    config.site_url = SITE
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from the code, and the schemas as they are."""
    for page in pages():
        files.append(File.generated(config, page.path, content=page.text()))
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, f"schema/{path.name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links to the schemas in the repository to their copies in the site."""
    up = "../" * page.file.src_uri.count("/")
    return _SCHEMA.sub(lambda found: f"]({up}schema/{found['name']})", markdown)
