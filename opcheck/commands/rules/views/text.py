"""The rewrite rules: a row each, or one page for one."""

import inspect
from collections.abc import Sequence

from opcheck.commands.rules.answer import Checked
from opcheck.lang.sentence import Sentence, chained, in_brackets
from opcheck.lang.speech import has_translation, tell
from opcheck.model.plan import Label, RuleCheck, RuleInfo
from opcheck.views.formats import PLAIN, Page
from opcheck.views.terminal import plan_words
from opcheck.views.terminal.canvas import Canvas, listed, split
from opcheck.views.terminal.head import mark
from opcheck.views.terminal.sections import write_code


def render(answer: Sequence[RuleInfo] | Checked, page: Page = PLAIN) -> str:
    """The rules, or how they did where they were tried."""
    return _checks(answer.checks, page) if isinstance(answer, Checked) else _rules(answer, page)


def _rules(rules: Sequence[RuleInfo], page: Page) -> str:
    """Everything about a single rule, or one paragraph each."""
    canvas = Canvas(page)
    if len(rules) == 1:
        _write_rule(canvas, rules[0])
        return canvas.text()
    for tier, name in plan_words.TIERS.items():
        here = [rule for rule in rules if rule.tier == tier]
        if not here:
            continue
        title = tell(Sentence("Tier {count}", count=int(tier)))
        canvas.flow([(title, "bold"), (canvas.marks.dot, "dim"), *split(name, "dim")])
        for rule in here:
            label = split(in_brackets(rule.label.value), "dim")
            canvas.flow([(rule.name, "bold green"), *label], 2)
            canvas.flow(split(rule.summary), 4)
            canvas.flow(listed(rule.replaces, "dim"), 4)
        canvas.blank()
    canvas.flow(split(plan_words.ONE_RULE, "dim"))
    return canvas.text()


def _write_rule(canvas: Canvas, rule: RuleInfo) -> None:
    canvas.flow([(rule.name, "bold green"), (canvas.marks.dot, "dim"), *split(rule.summary)])
    canvas.blank()
    close = Sentence(rule.label.value)
    if rule.label is Label.TOLERANCE and rule.tolerance:
        close = Sentence(
            "tolerance, to {figure} eps of the largest value", figure=f"{rule.tolerance:g}"
        )
    tier = chained([str(int(rule.tier)), plan_words.TIERS[rule.tier]], ", ")
    canvas.field(plan_words.TIER, split(tier), 2)
    canvas.field(plan_words.CLOSE, split(close), 2)
    if rule.replaces:
        canvas.field(plan_words.REPLACES, listed(rule.replaces, "bold"), 2)
    if rule.spellings:
        canvas.field(plan_words.WRITTEN, listed(rule.spellings), 2)
    if rule.gives_up:
        canvas.field(plan_words.GIVES_UP, split(rule.gives_up, "yellow"), 2)
    paragraphs = inspect.cleandoc(rule.page).split("\n\n")
    if any(paragraphs) and not all(map(has_translation, paragraphs)):
        canvas.blank()
        canvas.flow(split(plan_words.IN_ENGLISH, "dim"), 2)
    for paragraph in paragraphs:
        canvas.blank()
        canvas.flow(split(paragraph), 2)
    if rule.code:
        canvas.blank()
        write_code(canvas, rule.code, 2)
    if rule.references:
        canvas.blank()
        for reference in rule.references:
            canvas.flow([(reference, "dim")], 2)


def _checks(checks: Sequence[RuleCheck], page: Page) -> str:
    """One line for each overload, and the first call that is off."""
    canvas = Canvas(page)
    for one in checks:
        sign = mark(one.holds, canvas.marks)
        name = [(one.op, "bold"), *split("by"), (one.rule, "bold")]
        canvas.flow([sign, *name, *split(plan_words.tried(one), sign[1])])
        if one.first:
            canvas.flow(split(one.first), 2)
    return canvas.text()
