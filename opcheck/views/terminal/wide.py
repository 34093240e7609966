"""Where a line of Chinese may be broken, and where spaces stand in it.

The patterns are compiled where they are first needed: no English text needs them.
"""

import re

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
)
_OPENING = r"（《「『【\[("
_CLOSING = "，。、；：！？）》」』】"
_PIECE = (
    rf"[{_OPENING}]*(?:[{_WIDE}]|[^{_WIDE}]+)[{_CLOSING}]*(?: [^{_WIDE}]+)?"
    rf"|[{_OPENING}{_CLOSING}]+"
)
_NAME = r"[/\\]|::|[\w*]\.\w+(?::\d+)?$"
_BEHIND_SIGN = r"(?<=[，。；：！？])"
_BEGINS_WIDE = rf"[{_WIDE}]"
_ENDS_WIDE = rf"[{_WIDE}]\Z"
_NO_SPACE_BEFORE = rf"[{_CLOSING}（《「『【]"
_NO_SPACE_BEHIND = rf"[{_CLOSING}（《「『【]\Z"


def pieces(text: str) -> list[str]:
    """The text in parts that stay whole: a path or a name, and a word with the sign behind it."""
    if _narrow(text):
        return [text]
    if not re.search(_NAME, text):
        return re.findall(_PIECE, text)
    parts = [part for part in re.split(_BEHIND_SIGN, text) if part]
    return [
        piece for part in parts for piece in ([part] if re.search(_NAME, part) else pieces(part))
    ]


def closes(piece: str) -> bool:
    """Whether it is a sign that stands on the line of what is before it, however full that is."""
    return piece[:1] in _CLOSING if piece else False


def columns(text: str) -> int:
    """How wide the text is on a terminal."""
    return len(text) + (0 if _narrow(text) else len(re.findall(_BEGINS_WIDE, text)))


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph as lines of at most ``width`` columns, as far as its words allow."""
    lines = [""]
    for i, word in enumerate(text.split()):
        gap = " " if i and spaced(lines[-1], word) else ""
        for piece in pieces(word):
            if lines[-1] and columns(f"{lines[-1]}{gap}{piece}") > width:
                lines.append(piece)
            else:
                lines[-1] += f"{gap}{piece}"
            gap = ""
    return lines


def spaced(before: str, behind: str) -> bool:
    """Whether a space stands between two words: not among Chinese, nor beside its signs."""
    if _narrow(before) and _narrow(behind):
        return True
    if re.search(_NO_SPACE_BEHIND, before) or re.match(_NO_SPACE_BEFORE, behind):
        return False
    return not (re.search(_ENDS_WIDE, before) and re.match(_BEGINS_WIDE, behind))


def _narrow(text: str) -> bool:
    """Whether it has no wide character and no sign of Chinese; dots and boxes are none."""
    return text.isascii() or (
        max(text) < "\u2e80" and not any("\u1100" <= letter <= "\u115f" for letter in text)
    )
