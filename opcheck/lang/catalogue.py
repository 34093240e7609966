"""One language's catalogue, read from a PO file, and the texts that it gives in it."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from gettext import c2py  # not in gettext's __all__; seen in 3.11 to 3.13, and tested

from msgspec import Struct

from opcheck.lang.sentence import Sentence, verbatim, without_places
from opcheck.lang.sentence import filled as filled_in
from opcheck.lang.template import NAMED, Template, filled, holds_message, places, without_gaps

BY_TEMPLATE = "by-template"
"""The flag of an entry that is never looked for in a text."""
_STATEMENT = re.compile(r'(?:(?P<key>msg\w+(?:\[\d+\])?)\s*)?(?P<text>".*")$')


class Entry(Struct, frozen=True):
    """One message and its translation."""

    english: str
    plural: str
    """The English of several; "" for a message that has no number in it."""
    context: str
    """Where it is said, for words that mean one thing here and another there."""
    forms: tuple[str, ...]
    """The translation, one text for each plural form of its language."""
    line: int
    by_template: bool = False
    """Whether it is only ever said as a sentence, and so is never looked for in a text."""


def read_po(text: str, name: str) -> tuple[Entry, ...]:
    """Every entry, the header first (its English is ""); ``name`` is for messages."""
    return tuple(_entry(block) for block in _blocks(text, name) if "msgid" in block.fields)


@dataclass(slots=True)
class _Block:
    line: int
    fields: dict[str, str]
    flags: set[str] = field(default_factory=set)


def _blocks(text: str, name: str) -> Iterator[_Block]:
    """What stands between blank lines: keyword -> its text; comments are no part of it."""
    block, key = _Block(0, {}), ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped:
            yield block
            block, key = _Block(0, {}), ""
        elif stripped.startswith("#,"):
            block.flags |= {flag.strip() for flag in stripped[2:].split(",")}
        elif not stripped.startswith("#"):
            found = _STATEMENT.match(stripped)
            key = (found["key"] or key) if found else ""
            if found is None or not key:
                raise ValueError(f"{name}:{number}: not a line of a PO file: {stripped!r}")
            block.line = block.line or number
            block.fields[key] = block.fields.get(key, "") + ast.literal_eval(found["text"])
    yield block


def _entry(block: _Block) -> Entry:
    fields = block.fields
    forms = [fields[key] for key in sorted(fields) if key.startswith("msgstr")]
    return Entry(
        fields["msgid"],
        fields.get("msgid_plural", ""),
        fields.get("msgctxt", ""),
        tuple(forms),
        block.line,
        BY_TEMPLATE in block.flags,
    )


PROSE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|\ba [a-z]{2,}")
"""Two words in a row: what has none is a name, a figure or code, the same in any language."""
_SIGN = 2
"""Weight of a sign with a space: sentences that it alone joins are recognised each by itself."""
_CLAUSES = re.compile(r"(?<=[.;]) |(?<=\)) (?=\()")
_WORD = re.compile(r"[A-Za-z]")
_SIGNS = {": ": "：", "; ": "；", ", ": "，", " (": "（", ")": "）"}
_ENDS = {":": "：", ".": "。", ",": "，", ";": "；"}


class _Way(Struct, frozen=True):
    """One English form of an entry, and the entry."""

    template: Template
    entry: Entry


class Catalogue:
    """Recognises sentences and gives their translation."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        header, *self.entries = entries
        found = re.search(r"plural=([^;\n]+)", header.forms[0])
        self._form = c2py(found[1]) if found else lambda _: 0
        self._known: dict[str, str] = {}
        self._ordered: dict[str, list[tuple[str, _Way]]] = {}
        """Word -> what a text that begins with it may be made of, each with its longest part."""

    def tell(self, text: str, context: str = "") -> str:
        """The text in this language; what is not known stays as it is.

        A sentence is looked up by its template, any other text as it stands.
        """
        if isinstance(text, Sentence) and text.arguments:
            return self._sentence(text)
        fixed = self._fixed.get((context, text)) or self._fixed.get(("", text))
        if fixed is not None:
            return fixed.forms[0]
        return self._prose(str(text)) if isinstance(text, Sentence) else text

    def wording(self, template: str) -> str:
        """The translation of a message whose places are still open."""
        entry = self._messages.get(template)
        return template if entry is None else entry.forms[0]

    @property
    def templates(self) -> Collection[str]:
        """Every message that it has, in English."""
        return self._messages.keys()

    def _sentence(self, sentence: Sentence) -> str:
        """The translation of a sentence, its arguments' included."""
        values = sentence.arguments
        entry = self._messages.get(sentence.template)
        if entry is None and not _WORD.search(without_places(sentence.template)):
            template = _with_signs(sentence.template)  # no words of ours: places, with signs
        elif entry is None:  # a text of the database, which several messages may make up
            template = self._prose(sentence.template)
            if template == sentence.template:
                return self._prose(str(sentence))
        else:
            count = next((v for name, v in values.items() if name.startswith("count")), "0")
            template = entry.forms[self._form(_whole_number(count))]
        inner = {name: text for name, text in values.items() if not name.startswith(NAMED)}
        if self._mixes(Template(sentence.template), inner):
            return str(sentence)
        told = {
            name: self._part(value) if is_message(name, value) else value
            for name, value in values.items()
        }
        return without_gaps(filled_in(template, told))

    def _part(self, text: str) -> str:
        """What stands in a place: a sentence, or words of the database or of a saved document."""
        return self.tell(text) if isinstance(text, Sentence) else self._prose(text)

    def _prose(self, text: str) -> str:
        """A text of which no more is known than its words: it is compared with every message."""
        if text not in self._known:
            found = self._whole(text) if text.strip() else None
            self._known[text] = self._parts(text) if found is None else found
        return self._known[text]

    def _whole(self, text: str) -> str | None:
        fixed = self._fixed.get(("", text))
        if fixed is not None:
            return fixed.forms[0]
        for way in self._candidates(text):
            values = way.template.read(text)
            if values is not None and self._mixes(way.template, values):
                continue
            if values is not None:
                count = next((v for name, v in values.items() if name.startswith("count")), "0")
                form = way.entry.forms[self._form(int(count.replace(",", "")))]
                return filled(form, values, self._prose)
        return None

    def _mixes(self, template: Template, values: Mapping[str, str]) -> bool:
        """Whether English would stand within the translation: after a colon it may stand alone."""
        inner = (name for name in values if is_message(name, values[name]))
        inner = (name for name in inner if not _is_of_others(values[name]))
        return any(
            PROSE.search(values[name])
            and self._part(values[name]) == values[name]
            and not template.english.endswith(f": {{{name}}}")
            for name in inner
        )

    def _parts(self, text: str) -> str:
        """A text that is no single message: each of its clauses, or what follows a place."""
        place, _, said = text.partition(": ")
        placed = " " in said and not PROSE.search(place)
        if placed and (whole := self._whole(said)) is not None:
            return f"{place}：{whole}"
        clauses = _CLAUSES.split(text)
        if len(clauses) > 1:
            return joined(list(self._clauses(clauses)))
        if placed and (told := self._prose(said)) != said:
            return f"{place}：{told}"
        if text[-1:] in _ENDS and (told := self._prose(text[:-1])) != text[:-1]:
            return f"{told}{_ENDS[text[-1]]}"
        return self._enumerated(text)

    def _clauses(self, clauses: Sequence[str]) -> Iterator[str]:
        """Each clause told, several together where they are one message."""
        while clauses:
            for end in range(len(clauses), 0, -1):
                text = " ".join(clauses[:end])
                told = self._prose(text) if end == 1 else self._ended(text)
                if told is not None:
                    yield told
                    break
            clauses = clauses[end:]

    def _ended(self, text: str) -> str | None:
        """A message with a sign behind it that ends a clause, or none."""
        if (told := self._whole(text)) is not None or text[-1:] not in _ENDS:
            return told
        told = self._whole(text[:-1])
        return None if told is None else f"{told}{_ENDS[text[-1]]}"

    def _enumerated(self, text: str) -> str:
        """Parts with commas between them, if every one of them is known."""
        known = self._listed(text.split(", "))
        return "，".join(known) if known and known != text.split(", ") else text

    def _listed(self, parts: Sequence[str]) -> list[str] | None:
        """What is between commas, where a message of some parts may have commas itself."""
        for end in range(len(parts), 0, -1):
            part = ", ".join(parts[:end])
            told = self._whole(part)
            if told is None and " " not in part:
                told = part  # a name
            rest = self._listed(parts[end:]) if told is not None else None
            if told is not None and rest is not None:
                return [told, *rest]
        return None if parts else []

    def _candidates(self, text: str) -> Iterator[_Way]:
        """The ways that the text may have been made, the heaviest first."""
        word = text.partition(" ")[0]
        key = word if word in self._ways else ""
        if key not in self._ordered:
            some = [*self._ways.get(key, ()), *(self._ways.get("", ()) if key else ())]
            some.sort(key=lambda way: -way.template.weight)
            self._ordered[key] = [(way.template.literal, way) for way in some]
        # to look for a text takes a tenth of the time of a pattern, and there are hundreds
        return (way for literal, way in self._ordered[key] if literal in text)

    @cached_property
    def _messages(self) -> dict[str, Entry]:
        """Every entry by its English, in each of its forms."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            for english in filter(None, (entry.english, entry.plural)):
                found.setdefault(english, entry)
        return found

    @cached_property
    def _fixed(self) -> dict[tuple[str, str], Entry]:
        return {(e.context, e.english): e for e in self.entries if not places(e.english)}

    @cached_property
    def _ways(self) -> dict[str, list[_Way]]:
        found: dict[str, list[_Way]] = {}
        for entry in self.entries:
            if places(entry.english) and not entry.by_template:
                for english in filter(None, (entry.english, entry.plural)):
                    way = _Way(Template(english), entry)
                    if way.template.weight > _SIGN:
                        found.setdefault(way.template.first, []).append(way)
        return found


def is_message(name: str, value: str) -> bool:
    """Whether an argument is a message itself: a sentence, or what the place's name says is one."""
    return isinstance(value, Sentence) or holds_message(name, value)


def _is_of_others(value: str) -> bool:
    """Whether it is somebody else's words, which stand in any language as they are."""
    return isinstance(value, Sentence) and value.template == verbatim("").template


def _with_signs(template: str) -> str:
    """A template without words, with the signs of this language between its places."""
    for sign, ours in _SIGNS.items():
        template = template.replace(sign, ours)
    template = f"（{template[1:]}" if template.startswith("(") else template
    return f"{template[:-1]}{_ENDS[template[-1]]}" if template[-1:] in _ENDS else template


def _whole_number(count: str) -> int:
    digits = count.replace(",", "")
    return int(digits) if digits.isdecimal() else 0


def joined(clauses: Sequence[str]) -> str:
    """Clauses in a row: after a full-width sign there is no space."""
    text = clauses[0]
    for clause in clauses[1:]:
        text += clause if text[-1] in "。；）" else f" {clause}"
    return text
