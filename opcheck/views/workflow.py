"""Commands of GitHub's workflows, written so that no text begins one of its own."""

from collections.abc import Mapping

from opcheck.model.text import printable


def command(name: str, properties: Mapping[str, str], message: str) -> str:
    """One line: ``::error file=net.py,line=3,title=…::message``."""
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    """As the runner's own toolkit escapes a message; it would read a line break as the end."""
    text = printable(text, kept="\r\n")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
