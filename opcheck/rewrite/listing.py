"""The rules, and the other fixes that a plan names, as people read of them."""

import difflib
import inspect
from collections.abc import Sequence

from msgspec.structs import replace

from opcheck.errors import UsageError
from opcheck.lang.sentence import Sentence
from opcheck.model.plan import Label, RuleInfo, Tier
from opcheck.rewrite.base import Rule, rules
from opcheck.rewrite.candidates import HALF_GIVES_UP, IN_HALF, candidates
from opcheck.rewrite.custom.base import toolchains
from opcheck.rewrite.custom.suggest import RULE as CUSTOM
from opcheck.rewrite.library_options import PAGE as OPTION_PAGE
from opcheck.rewrite.library_options import RULE as OPTION
from opcheck.rewrite.library_options import SUMMARY as OPTION_SUMMARY
from opcheck.rewrite.optimizers import NAME as UNFUSED
from opcheck.rewrite.optimizers import SUMMARY as UNFUSED_SUMMARY
from opcheck.rewrite.parts.calls import NAME as ON_PARTS
from opcheck.rewrite.structural.fixed_size import RULE as FIXED_SIZE
from opcheck.rewrite.structural.fixed_size import masked_select_padded
from opcheck.rewrite.structural.mask_to_where import RULE as MASKS
from opcheck.rewrite.structural.suggest import PAGES
from opcheck.rewrite.text import standalone


def fix_called(name: str) -> RuleInfo | None:
    """The page of a suggestion by the name that a plan shows; None where it is none of these."""
    kind, _, inner = name.removesuffix(")").partition("(")
    found = _PAGES.get(kind)
    if found is None or not inner:
        return found
    for own in candidates(f"aten::{inner}"):
        if own.rule == name:
            return replace(found, name=name, replaces=(f"aten::{inner}",), code=own.code)
    return None


def _page(name: str, tier: Tier, summary: str, page: str, gives_up: str = "") -> RuleInfo:
    return RuleInfo(
        name=name,
        tier=tier,
        label=Label.TOLERANCE,
        tolerance=0.0,
        replaces=(),
        summary=summary,
        gives_up=gives_up,
        page=page,
        spellings=(),
        code="",
        references=(),
    )


def _structural(name: str, summary: str, page: str, gives_up: str, code: str = "") -> RuleInfo:
    page = (
        f"{page}\n\nIt is left to you: more than the call has to change, so no command writes it."
    )
    found = _page(name, Tier.STRUCTURAL, summary, page, gives_up)
    return replace(found, label=Label.TOLERANCE if name == MASKS else Label.APPROXIMATE, code=code)


def _narrowed(dtype: str, *, wider: bool) -> RuleInfo:
    return _page(
        f"float32-instead-of-{dtype}",
        Tier.SWAP if wider else Tier.STRUCTURAL,
        Sentence("Compute one overload in float32 instead of {dtype}", dtype=dtype),
        f"""Its tensors of {dtype} are converted to float32 before the call and its results back
after it: for targets whose kernel refuses the one dtype and has the other.""",
        "" if wider else "All digits of float64 beyond the seventh",
    )


_PAGES = {
    page.name: page
    for page in (
        _page(
            CUSTOM,
            Tier.CUSTOM,
            "Build a kernel of your own, from a project that opcheck fix --custom-op writes",
            f"""Where nothing that the target runs stands for an overload, what is left is to
write it a kernel. The project has the calls of the model as cases of a test, the binding
that registers the kernel, a reference, the build and a README.

opcheck fix SOURCE -t TARGET --custom-op OVERLOAD --into FOLDER writes it. Toolchains:
{", ".join(chain.name for chain in toolchains())}.

For a pointwise operator whose value is known as an expression, and for reductions, scans, gathers,
scatters and matrix products that are known, the kernel is written whole; for others all but one
function of it is. Nothing is proved before its own test has passed
on the device.""",
            "A kernel to build and to maintain",
        ),
        _page(
            "pytorch-decomposition",
            Tier.SWAP,
            "Use PyTorch's own decomposition of an overload",
            """What PyTorch itself takes the overload apart into, from torch._decomp. A plan records
what that runs as on the target, and measures it beside the overload.""",
        ),
        _page(
            UNFUSED,
            Tier.SWAP,
            UNFUSED_SUMMARY,
            """PyTorch's own foreach functions take the same step: torch.optim.Adam, AdamW, SGD and
Adagrad use them where fused is left out. A plan records what that step runs as on the target, and
measures it beside the fused one. Gradients that a GradScaler scaled are unscaled before it.""",
        ),
        _page(OPTION, Tier.SWAP, OPTION_SUMMARY, OPTION_PAGE),
        _structural(
            MASKS,
            "Compute every element, and choose by where those that the mask names",
            """A line of yours that selects by a mask and then adds up, averages, takes the largest
or smallest, makes a loss, or writes back by the same mask, needs no list of what was selected.
The plan shows the line to write, and has recorded and measured it beside yours. Zeros stand for
what the mask leaves out, so that neither values nor gradients come from there.""",
            "Every element is computed, also those that the mask leaves out",
        ),
        _structural(
            FIXED_SIZE,
            "Choose a size, and mark which results are there",
            """A running count says which place each result goes to. What there are more of than the
size holds is left out; a second result marks the places that hold one.""",
            "A size has to be chosen, and what comes after has to heed the marks",
            standalone(masked_select_padded),
        ),
        *(
            _structural(name, summary, f"{page} Advice: nothing of it is recorded.", costs)
            for name, summary, page, costs in PAGES
        ),
        _page(
            ON_PARTS,
            Tier.STRUCTURAL,
            "Compute complex tensors on their real and imaginary parts",
            """For a target without complex tensors, or one that refuses some call on them: each
complex tensor of the model becomes two real ones, and each call on it what it is in real
arithmetic. Transforms become products with tables, up to 2048 long. It is a suggestion only where
every complex call of the model has such a form that the target runs.

opcheck fix --graph carries it out in the exported program, complex weights included. It leaves
programs that take or give complex tensors, or that write to one which is seen in two ways.""",
            "Complex tensors, those that the model takes, keeps or returns too",
        ),
        _narrowed("float64", wider=False),
        _narrowed("float16", wider=True),
        _narrowed("bfloat16", wider=True),
        _page(
            IN_HALF,
            Tier.STRUCTURAL,
            "Compute one overload in float16 instead of float32",
            """Its tensors of float32 are converted to float16 before the call and its results back
after it: for targets whose kernel multiplies float16 alone. Where that holds for most of a model,
call .half() on the model, and keep in float32 what needs its range.""",
            HALF_GIVES_UP,
        ),
    )
}


def described(name: str = "", extra: Sequence[Rule] = ()) -> tuple[RuleInfo, ...]:
    """The rules asked for, by tier and name, see :func:`named`; or the suggestion of that name."""
    if way := fix_called(name):
        return (way,)
    return tuple(_described(r) for r in sorted(named(name, extra), key=lambda r: (r.tier, r.name)))


def named(name: str = "", extra: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """Every rule, or the one of a name, or those for an overload; ``extra`` are the user's.

    Raises:
        UsageError: no rule has that name, nor replaces such an overload.
    """
    known = (*rules(), *extra)
    found = tuple(rule for rule in known if not name or _is_named(rule, name))
    if not found:
        near = difflib.get_close_matches(name, [rule.name for rule in known], n=3)
        hint = (
            Sentence("did you mean {text}?", text=" or ".join(near))
            if near
            else Sentence("opcheck rules lists them")
        )
        raise UsageError(
            Sentence("no rule is called {text}, nor replaces such an overload", text=repr(name)),
            hint,
        )
    return found


def _is_named(rule: Rule, name: str) -> bool:
    operators = {op.partition(".")[0] for op in rule.replaces}
    spelled = name if "::" in name else f"aten::{name}"
    return name == rule.name or spelled in rule.replaces or spelled in operators


def _described(rule: Rule) -> RuleInfo:
    return RuleInfo(
        name=rule.name,
        tier=rule.tier,
        label=rule.label,
        tolerance=rule.tolerance,
        replaces=rule.replaces,
        summary=rule.summary,
        gives_up=rule.gives_up,
        page=inspect.getdoc(type(rule)) or "",
        spellings=(*rule.spellings, *rule.spelled),
        code=standalone(*dict.fromkeys(map(rule.function, rule.replaces))),
        references=rule.references,
    )
