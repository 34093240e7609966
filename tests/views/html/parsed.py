"""A page as a parser for HTML sees it."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def all(self, tag: str, **wanted: str) -> list["Element"]:
        """Every element below with a tag and attributes; ``data_x`` is ``data-x``."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and all(
                    child.attributes.get(name.rstrip("_").replace("_", "-")) == value
                    for name, value in wanted.items()
                ):
                    found.append(child)
                found += child.all(tag, **wanted)
        return found

    def one(self, tag: str, **wanted: str) -> "Element":
        (found,) = self.all(tag, **wanted)
        return found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(text: str) -> Element:
    """The root of a page in which every element is closed where it should be."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    (root,) = parser.open
    return root


def embedded(page: Element) -> Any:
    """What the script of a page is given."""
    return json.loads(page.one("script", type="application/json").text)
