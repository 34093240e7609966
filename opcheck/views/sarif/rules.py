"""What kinds of problem there are: a verdict and the reason for it."""

from opcheck.model.matrix import DOUBTED
from opcheck.model.report import Finding
from opcheck.model.verdict import Verdict
from opcheck.views.document.parts import Json
from opcheck.views.markdown.escape import code as markdown_code
from opcheck.views.problems import one_line

LEVELS = {
    Verdict.UNSUPPORTED: "error",
    Verdict.UNKNOWN: "warning",
    Verdict.FALLBACK: "note",
    Verdict.DECOMPOSED: "note",
    Verdict.NATIVE: "note",
}
"""A scan shows nothing of what runs on the device; a gate does where a policy asks for it."""
_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}
"""GitHub's words for the levels of rules."""
_SHORT = {
    Verdict.UNSUPPORTED: "The target does not run this operator",
    Verdict.UNKNOWN: "Nobody has said whether the target runs this operator",
    Verdict.FALLBACK: "The target leaves this operator to something else",
    Verdict.DECOMPOSED: "The target runs this operator as others, with a catch",
    Verdict.NATIVE: "The target runs this operator, with a catch",
}
_FULL = {
    Verdict.UNSUPPORTED: "The call is known to fail on the target: there is no kernel, or a "
    "condition on dtype, shape, chip or version does not hold, or a fallback would itself fail.",
    Verdict.UNKNOWN: "Neither the vendor's files nor PyTorch's registrations tell what happens to "
    "the call. It is not counted as supported.",
    Verdict.FALLBACK: "The call runs outside the device, on the host or, for a graph compiler, in "
    "PyTorch. It gives its result, and its tensors are moved there and back.",
    Verdict.DECOMPOSED: "The call runs on the device as other operators, and the project's policy "
    "names the reason that stands with it.",
    Verdict.NATIVE: "The call runs on the device, and the project's policy names the reason that "
    "stands with it.",
}
_OF_CODE = {
    DOUBTED: (
        "The vendor's sources contradict each other on this operator",
        "The vendor registers a kernel for the call, and one of its documents leaves the call out. "
        "No second source tells which of them holds. It is not counted as supported.",
    ),
}
"""Codes of which what is said of their verdict is not so: in short, and in full."""
_HELP = {
    Verdict.UNSUPPORTED: "`opcheck plan` shows what to write instead, with the error measured; "
    "`opcheck explain OPERATOR -t TARGET` shows the conditions and the evidence.",
    Verdict.UNKNOWN: "`opcheck explain OPERATOR -t TARGET` shows what is known. An overlay of the "
    "database (`--db`) can tell what you found out on the device.",
    Verdict.FALLBACK: "`opcheck plan` shows how to keep the call on the device. Whether it matters "
    "depends on how often it is called and on what it moves.",
    **dict.fromkeys(
        (Verdict.DECOMPOSED, Verdict.NATIVE),
        "`opcheck explain OPERATOR -t TARGET` shows the conditions and the evidence.",
    ),
}


def rule_id(finding: Finding) -> str:
    """``unsupported/dtype-not-supported``; the same in every scan."""
    return one_line(f"{finding.verdict}/{finding.reason.code}")


def descriptor(finding: Finding) -> Json:
    """The rule that a finding is of."""
    verdict, level = finding.verdict, LEVELS[finding.verdict]
    code = one_line(finding.reason.code)
    short, full = _OF_CODE.get(code, (_SHORT[verdict], _FULL[verdict]))
    text = f"{full}\n\nReason: {code}.\n\n{_HELP[verdict].replace('`', '')}"
    markdown = f"{full}\n\nReason: {markdown_code(code)}.\n\n{_HELP[verdict]}"
    return {
        "id": rule_id(finding),
        "name": "".join(word.capitalize() for word in f"{verdict}-{code}".split("-")),
        "shortDescription": {"text": f"{short} ({code})."},
        "fullDescription": {"text": full},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["compatibility", verdict.value],
            "problem.severity": _SEVERITIES[level],
        },
    }
