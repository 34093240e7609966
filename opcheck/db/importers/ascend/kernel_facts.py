"""Writes ``kernels/``: what pages say of the kernels that op-plugin's overloads call.

``python -m opcheck.db.importers.ascend.kernel_facts FOLDER [RELEASE …]`` reads clones of the
repositories: ``FOLDER/op-plugin``, ``ops-nn``, ``ops-math`` and ``ops-cv``, git directories each.
``RELEASE.yaml`` is a release of op-plugin beside the branch of CANN that it is made for.
``RELEASE@BRANCH.yaml`` is one beside a newer branch, whose pages leave fewer rows open: from one
CANN to the next kernels take more dtypes, never fewer, so that its own refuse what the newer do.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.files import yaml_writer
from opcheck.db.importers.ascend.cpp_reader import Statement, Token, functions
from opcheck.db.importers.ascend.page_reader import Kernel, Page, Row, read_page
from opcheck.db.importers.ascend.plugin_calls import Calls, Reached
from opcheck.db.importers.ascend.plugin_overloads import commit_of, files_of, read_plugin

BRANCHES = {"7.3.0": "8.5.0", "26.0.0": "9.0.0", "26.1.0": "9.1.0"}
"""Release of op-plugin -> branch of CANN's repositories."""
NEWER = "9.0.0"
"""The branch beside which older releases are read as well."""
OLDER = ("6.0.0", "7.1.0", "7.2.0", "7.3.0")
"""Releases of op-plugin whose CANN is older, and of most has no public code."""
FOLDER = Path(__file__).with_name("kernels")
_REPOSITORIES = ("ops-nn", "ops-math", "ops-cv")
_PAGES = re.compile(r"(?!experimental/|.*_en\.md).*/docs/aclnn[^/]*\.md")
"""Translations, which some branches have beside them, are left out."""
_CODE = re.compile(r"(?!experimental/).*/op_api/[^/]*\.cpp")
_SHARED = re.compile(r"#include \"[^\"]*?([^/\"]*(?:util|common|base)[^/\"]*)\.h\"")
"""Headers of what kernels share, whose checks a kernel's file may leave to them."""
_DEFINED = re.compile(r"aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\s*\(")
_LISTS = re.compile(
    r"(?:initializer_list|vector)<\s*(?:const\s+)?(?:\w+::)*DataType\s*>\s*&?\s*\w+\s*=?\s*\{([^{}]*)\}"
)
_TOO_MANY = re.compile(r"OP_CHECK_MAX_DIM\(\s*(\w+)\s*,")
"""The check of an argument's dimensions, in the kernels' code."""
_NOT_TAKEN = "OP_CHECK_DTYPE_NOT_SUPPORT"
"""The check of its dtype."""
_ENTRY = "GetWorkspaceSize"
"""Ends the name of the function that checks a kernel's arguments."""
_NAMED = re.compile(r"\bDT_(\w+)")
_DTYPES = {
    "FLOAT": "fp32", "FLOAT16": "fp16", "BF16": "bf16", "DOUBLE": "fp64", "INT8": "int8",
    "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16",
    "UINT32": "uint32", "UINT64": "uint64", "BOOL": "bool", "COMPLEX32": "complex32",
    "COMPLEX64": "complex64", "COMPLEX128": "complex128", "FLOAT8_E5M2": "float8_e5m2",
    "FLOAT8_E4M3FN": "float8_e4m3fn", "FLOAT8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
"""CANN's names in its code -> the files' words."""
_HEAD = """\
# What pages of aclnn kernels of CANN {branch} say, and which of them the op_api code of op-plugin
# {release} hands an overload's own arguments. Written by
# `python -m opcheck.db.importers.ascend.kernel_facts FOLDER {release}`; do not edit."""
_KERNELS = """\
runs, not: chips, and the line that denies one. arguments: the line of its row, the dtypes in it,
refused: the line of the return code for others, or where the code checks the dtype; most:
dimensions, the line of their return code, and where the code checks them.
taken: by chip, remarks that deny an argument (or *) dtypes, or name all that it takes (only).
apart: dtypes in other remarks on a chip. lists: dtypes in the lists of the kernel's own code, the
first of which is at code."""
_CALLS = """\
overload: the call, and for each argument that a kernel gets on every way through the code: kernels
and what they call it. ranks: those that reach them with their own number of dimensions."""


class Lists(Struct, frozen=True):
    """The lists of dtypes in a C++ file."""

    at: str
    """Of the first of them."""
    dtypes: frozenset[str]
    """Of all of them."""


class Documented(Struct):
    """The pages and the code of all kernels of one branch, by kernel."""

    pages: dict[str, tuple[str, Page]]
    """Kernel -> where its page stands, and what it says; kernels with two pages are left out."""
    lists: dict[str, Lists]
    checks: dict[tuple[str, str], str]
    """Kernel and argument -> where its code checks the number of dimensions."""
    dtypes: dict[tuple[str, str], str]
    """The same of its dtype."""


def lists(place: str, text: str) -> Lists | None:
    """The lists of dtypes in the text of a C++ file; None where it has none."""
    found = [*_LISTS.finditer(text)]
    named = {word for match in found for word in _NAMED.findall(match[1])}
    dtypes = frozenset(_DTYPES[word] for word in named if word in _DTYPES)
    if not dtypes:
        return None
    line = text.count("\n", 0, found[0].start()) + 1
    return Lists(f"{place}:{line}", dtypes)


def _dtype_checks(place: str, texts: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Kernel and argument -> where what the kernel's own function calls checks its dtype."""
    found: dict[tuple[str, str], str] = {}
    for path, text in texts.items():
        if _NOT_TAKEN not in text:
            continue
        codes = {code.name: tuple(_tokens(code.body)) for code in functions(text)}
        for name in codes:
            kernel = name.removesuffix(_ENTRY)
            if kernel != name:
                for argument, line in _checked(name, codes, set()):
                    found.setdefault((kernel, argument), f"{place}:{path}:{line}")
    return found


def _tokens(body: Iterable[Statement]) -> Iterator[Token]:
    for one in body:
        yield from one.tokens
        yield from _tokens((*one.body, *one.other))


def _checked(
    name: str, codes: Mapping[str, Sequence[Token]], seen: set[str]
) -> Iterator[tuple[str, int]]:
    """The arguments whose dtype a function and those that it calls check, and the lines."""
    seen.add(name)
    tokens = codes[name]
    for at, token in enumerate(tokens):
        if token.text == _NOT_TAKEN and at + 2 < len(tokens):
            yield tokens[at + 2].text, token.line
        elif token.text in codes and token.text not in seen:
            yield from _checked(token.text, codes, seen)


def _checks(place: str, texts: Mapping[str, str]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for path, text in texts.items():
        for match in _TOO_MANY.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            for kernel in _DEFINED.findall(text):
                found.setdefault((kernel, match[1]), f"{place}:{path}:{line}")
    return found


def _of_kernels(place: str, texts: Mapping[str, str]) -> Iterator[tuple[str, Lists]]:
    """Kernel -> the lists of the file that defines it, or of what that shares with others."""
    by_file = {path: lists(f"{place}:{path}", text) for path, text in texts.items()}
    shared: dict[str, list[Lists]] = {}
    for path, found in by_file.items():
        if found:
            shared.setdefault(Path(path).stem, []).append(found)
    for path, text in texts.items():
        own = by_file[path]
        named = (
            [own] if own else [f for name in _SHARED.findall(text) for f in shared.get(name, ())]
        )
        for kernel in _DEFINED.findall(text) if named else ():
            dtypes = frozenset[str]().union(*(found.dtypes for found in named))
            yield kernel, Lists(named[0].at, dtypes)


def read_documents(folder: Path, branch: str) -> Documented:
    """Read the pages of one branch, and the lists of dtypes in the kernels' code."""
    found = Documented({}, {}, {}, {})
    twice = set()
    for repository in _REPOSITORIES:
        at = str(folder / repository)
        for path, text in files_of(at, branch, _PAGES):
            page = read_page(text)
            for kernel in page.kernels:
                twice |= {kernel} & found.pages.keys()
                found.pages[kernel] = (f"{repository}-{branch}:{path}", page)
        place = f"{repository}-{branch}"
        files = dict(files_of(at, branch, _CODE))
        found.checks |= _checks(place, files)
        found.dtypes |= _dtype_checks(place, files)
        for kernel, said in _of_kernels(place, files):
            if kernel in found.lists:
                said = Lists(said.at, said.dtypes | found.lists[kernel].dtypes)
            found.lists[kernel] = said
    for kernel in twice:
        del found.pages[kernel]
    return found


def facts(calls: Mapping[str, Calls], known: Documented) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sections ``kernels`` and ``calls``: of the calls whose arguments have all a page."""
    overloads, used = dict[str, Any](), dict[str, set[str]]()
    for op, called in sorted(calls.items()):
        reached = {name: _reached(found, known) for name, found in sorted(called.dtypes.items())}
        found = {name: kernels for name, kernels in reached.items() if kernels}
        if found:
            for kernel, name in (pair for kernels in found.values() for pair in kernels.items()):
                used.setdefault(kernel, set()).add(name)
            ranks = [name for name in found if called.ranks.get(name) == called.dtypes[name]]
            (_, at), *_ = called.kernels.items()
            overloads[op] = {"at": at, "arguments": found, **({"ranks": ranks} if ranks else {})}
    return {kernel: _kernel(kernel, names, known) for kernel, names in used.items()}, overloads


def _reached(reached: Iterable[Reached], known: Documented) -> dict[str, str]:
    """Kernel -> what it calls an argument; empty where that is not known of one of them."""
    found: dict[str, str] = {}
    for one in sorted(reached, key=lambda one: (one.kernel, one.place)):
        page = known.pages.get(one.kernel)
        parameters = page[1].kernels[one.kernel].parameters if page else ()
        name = parameters[one.place] if one.count == len(parameters) else ""
        if not name or found.setdefault(one.kernel, name) != name:
            return {}
    return found


def _kernel(kernel: str, names: Iterable[str], known: Documented) -> dict[str, Any]:
    where, page = known.pages[kernel]
    section, rows = page.kernels[kernel], page.arguments.get(kernel, {})
    found: dict[str, Any] = {"page": where, "runs": sorted(page.runs)}
    if page.runs_not:
        found["not"] = page.runs_not
    found["arguments"] = {
        name: dict(_argument(section, name, rows.get(name), known, (kernel, name)))
        for name in sorted(names)
    }
    taken = {
        chip: [
            {"argument": said.argument, "not" if said.denied else "only": said.dtypes}
            for said in dict.fromkeys(remarks)
        ]
        for chip, remarks in sorted(section.taken.items())
    }
    apart = {chip: sorted(words) for chip, words in sorted(section.apart.items())}
    found |= {key: value for key, value in (("taken", taken), ("apart", apart)) if value}
    if kernel in known.lists:
        found["lists"] = sorted(known.lists[kernel].dtypes)
        found["code"] = known.lists[kernel].at
    return found


def _argument(
    section: Kernel, name: str, row: Row | None, known: Documented, key: tuple[str, str]
) -> Iterator[tuple[str, Any]]:
    if row is not None and name in section.closed:
        yield from (("line", row.line), ("dtypes", row.dtypes))
        refused = section.refuses.get(name, section.refuses.get("*")) or known.dtypes.get(key)
        if refused:
            yield "refused", refused
    if name in section.most and key in known.checks:
        yield "most", [*section.most[name], known.checks[key]]


def text_of(folder: Path, release: str, branch: str) -> str:
    """The file of one release beside a branch of CANN."""
    plugin = str(folder / "op-plugin")
    calls = read_plugin(plugin, release)
    kernels, overloads = facts(calls, read_documents(folder, branch))
    sources = {
        f"{name}-{branch}": {
            "repo": f"hicann/{name}", "ref": branch, **commit_of(str(folder / name), branch)
        }
        for name in _REPOSITORIES
    }  # fmt: skip
    plugin_source = {"repo": "Ascend/op-plugin", "ref": release, **commit_of(plugin, release)}
    lines = [
        _HEAD.format(branch=branch, release=release),
        f"plugin: {yaml_writer.flow(plugin_source)}",
        *yaml_writer.section("sources", sources),
        *yaml_writer.section("kernels", kernels, _KERNELS),
        *yaml_writer.section("calls", overloads, _CALLS),
    ]
    return "\n".join(lines) + "\n"


def main(folder: Path, releases: Iterable[str]) -> None:
    """Write the files of some releases, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for release in releases or dict.fromkeys((*OLDER, *BRANCHES)):
        if release in BRANCHES:
            text = text_of(folder, release, BRANCHES[release])
            (FOLDER / f"{release}.yaml").write_text(text, encoding="utf-8")
        if release in OLDER:
            text = text_of(folder, release, NEWER)
            (FOLDER / f"{release}@{NEWER}.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
