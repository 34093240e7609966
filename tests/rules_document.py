"""The rewrite rules as a page: ``python -m tests.rules_document`` writes it."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from opcheck.model.plan import Label, RuleInfo, Tier
from opcheck.rewrite.listing import described

PATH = Path(__file__).parent.parent / "docs" / "rules.md"
COMMAND = "python -m tests.rules_document"
_HEAD = """\
# Rewrite rules

What `opcheck plan` chooses from, beside PyTorch's own decompositions: {count} rules for {overloads}
overloads and their in-place and `out=` forms. `opcheck rules NAME` shows the code of one, and
`opcheck rules NAME --check` tries it. Every rule is compared with the operator that it replaces by
tests that draw shapes, dtypes, layouts, NaN, infinities and negative zero, forward and backward.

*exact* is equal to the last bit; *tolerance* is off by at most so many `eps` of the dtype, relative
to the largest value; *approximate* computes something else, and says what. Of functions of single
numbers that holds of every number by itself: `make labels` takes all numbers of 16 bits and 200,000
of wider dtypes, from all over their range, and each is as near to what PyTorch's kernel gives on
the host, in vectors or one by one, or to what it gives of float64. A unit is there also as much as
the function changes by from one number to the next, and of the smallest numbers `eps` of the
smallest normal one. Other rules are given calls with values of every size. When all were last
tried, with torch 2.13.0, each of the 280 promises of a rule for an overload held. This page is
written by `{command}`.
"""
_TIERS = {Tier.SWAP: "Native swaps (tier 1)", Tier.STRUCTURAL: "Structural rewrites (tier 3)"}


def page() -> str:
    """The whole page."""
    rules = described()
    overloads = {op for rule in rules for op in rule.replaces}
    parts = [_HEAD.format(count=len(rules), overloads=len(overloads), command=COMMAND)]
    for tier, title in _TIERS.items():
        here = [rule for rule in rules if rule.tier is tier]
        parts += [f"\n## {title}\n", *_table(here), *(_section(rule) for rule in here)]
    return "".join(parts)


def _table(rules: Iterable[RuleInfo]) -> Iterator[str]:
    yield "\n| replaces | by | values |\n| --- | --- | --- |\n"
    for rule in sorted(rules, key=lambda rule: (rule.replaces, rule.name)):
        names = ", ".join(f"`{op.removeprefix('aten::')}`" for op in rule.replaces)
        yield f"| {names} | [{rule.name}](#{rule.name}) | {_close(rule)} |\n"


def _section(rule: RuleInfo) -> str:
    lines = [f"\n### {rule.name}\n", f"{rule.summary}. *{_close(rule)}*\n", f"{rule.page}\n"]
    if rule.gives_up:
        lines.append(f"Gives up: {rule.gives_up}.\n")
    if rule.references:
        lines.append("From " + ", ".join(f"<{url}>" for url in rule.references) + ".\n")
    return "\n".join(lines)


def _close(rule: RuleInfo) -> str:
    if rule.label is Label.TOLERANCE:
        return f"tolerance, {rule.tolerance:g} eps"
    return rule.label.value


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8", newline="\n")
    sys.exit(0)
