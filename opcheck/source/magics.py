"""The code of a notebook's cell as Python: what IPython adds to it becomes calls, as there.

``%name``, ``!command`` and ``%%name`` become calls of ``get_ipython()``, which says what is left
out; magics that run code, such as ``%time``, become that code. Every line keeps its number.
"""

import ast
import re

_CELL = re.compile(r"%%(?P<name>\S+)[ \t]*(?P<line>[^\n]*)\n?")
_MAGIC = re.compile(r"(?P<indent>[ \t]*)%(?P<name>[\w.]+)[ \t]*(?P<line>.*)")
_SHELL = re.compile(r"(?P<indent>[ \t]*)!(?P<again>!?)(?P<line>.*)")
_HELP = re.compile(
    r"(?P<indent>[ \t]*)(?:\?{1,2}[ \t]*(?P<after>[%\w.*]+)|(?P<before>[%\w.*]+)\?{1,2})[ \t;]*"
)
_GIVEN = re.compile(r"(?P<left>[\w.,\[\] \t]+=)[ \t]*(?P<kind>[%!])(?P<line>.*)")
_BARE = re.compile(
    r"(?P<indent>[ \t]*)(?P<name>pip|conda|mamba|cd|ls|mkdir|cp|mv|rm)[ \t]+"
    r"(?!-?=|-[ \t]|(?:in|is|not|and|or|if)\b)(?P<line>[\w./~*-].*)"
)
"""What IPython takes for a magic without its sign, where it is no Python."""
_OPTIONS = re.compile(r"(?:-[a-zA-Z]+(?:[ \t]*\d+)?[ \t]+)*")
"""Options of a magic before the code that it runs: ``-n 10 -r3``."""
NAME = "opcheck"
"""The magic that runs code on an emulated device."""
OPTION = re.compile(
    r"[ \t]*(?:(?:-t|--target)[=\s][ \t]*(?P<target>[^\s-]\S*)"
    r"|--(?P<flag>values|compare|stop|no-as-cuda))(?=\s|$)"
)
"""An option of that one."""
RUN = frozenset({"time", "timeit", "prun", "memit", "capture", NAME})
"""Magics that run the code that follows."""

_TOKEN = re.compile(
    r"#.*|\\\n|(?P<quote>'''|\"\"\"|['\"])|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>\n)"
)
_STRINGS = {
    quote: re.compile(rf"(?:\\.|[^\\])*?{quote}", re.DOTALL) for quote in ("'''", '"""')
} | {quote: re.compile(rf"(?:\\.|[^\\\n{quote}])*{quote}?", re.DOTALL) for quote in "'\""}
"""The rest of a string after its opening quote."""


def as_python(text: str) -> str:
    """A cell as Python; what is no Python without IPython either stays as it is."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lead = ""
    while True:
        blank = len(text) - len(text.lstrip())
        magic = _CELL.match(text, blank)
        if magic is None:
            return f"{lead}{_lines(text)}"
        lead += "\n" * text.count("\n", 0, blank)
        name, line, text = magic["name"], magic["line"], text[magic.end() :]
        if name not in RUN:
            return f"{lead}{_call('run_cell_magic', name, line, text)}\n"
        lead += f"{_code_of(name, line) if name == 'timeit' else ''}\n"


def _code_of(name: str, line: str) -> str:
    """The code behind the options of a magic that runs it."""
    if name == NAME:
        at = 0
        while option := OPTION.match(line, at):
            at = option.end()
        return line[at:].strip()
    return _OPTIONS.sub("", f"{line} ", count=1).strip()


def _lines(text: str) -> str:
    """Code with what IPython adds to it written anew, wherever a statement begins."""
    made, at = [], 0
    while at < len(text):
        end = _end_of_line(text, at)
        line = text[at:end].replace("\\\n", "")
        changed = _changed(line.rstrip("\n"))
        if changed is None:
            end = _end_of_statement(text, at)
            made.append(text[at:end])
        else:
            made.append(changed + "\n" * text.count("\n", at, end))
        at = end
    return "".join(made)


def _end_of_line(text: str, at: int) -> int:
    """Where the next line begins, after lines that a backslash continues."""
    while True:
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
        if text[at - 2 : at - 1] != "\\":
            return at


def _end_of_statement(text: str, at: int) -> int:
    """Where the line after a statement begins: strings and brackets go over several lines."""
    depth = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token["quote"]:
            string = _STRINGS[token["quote"]].match(text, at)
            at = len(text) if string is None else string.end()
        elif token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(depth - 1, 0)
        elif token["end"] and not depth:
            return at
    return len(text)


def _changed(line: str) -> str | None:
    """A line that IPython changes, as Python; None for any other."""
    if found := _SHELL.fullmatch(line):
        method = "getoutput" if found["again"] else "system"
        return f"{found['indent']}{_call(method, found['line'].strip())}"
    if found := _HELP.fullmatch(line):
        name = found["after"] or found["before"]
        return f"{found['indent']}{_call('run_line_magic', 'pinfo', name)}"
    if found := _MAGIC.fullmatch(line):
        if found["name"] in RUN:
            return f"{found['indent']}{_code_of(found['name'], found['line']) or 'pass'}"
        return f"{found['indent']}{_call('run_line_magic', found['name'], found['line'])}"
    if found := _GIVEN.fullmatch(line):
        if found["kind"] == "!":
            return f"{found['left']} {_call('getoutput', found['line'].strip())}"
        name, _, rest = found["line"].partition(" ")
        return f"{found['left']} {_call('run_line_magic', name, rest)}"
    if (found := _BARE.fullmatch(line)) and not _is_python(line.strip()):
        return f"{found['indent']}{_call('run_line_magic', found['name'], found['line'])}"
    return None


def _is_python(line: str) -> bool:
    try:
        ast.parse(line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _call(method: str, *arguments: str) -> str:
    return f"get_ipython().{method}({', '.join(map(repr, arguments))})"
