"""Every sentence of that page."""

from opcheck.commands.choose.values import Choice, Fit, Way
from opcheck.costs.roofline import Limit
from opcheck.model import text

COLUMNS = ("", "target", "runs", "memory", "at best", "bound by", "product")
WAYS = {
    Way.ITSELF: "yes",
    Way.HOST: "in part",
    Way.REPAIRED: "repaired",
    Way.UNKNOWN: "?",
    Way.NOT: "no",
}
FITS = {Fit.EVERY: "fits", Fit.UNKNOWN: "?", Fit.NONE: "too small"}
LIMITS = {Limit.COMPUTE: "compute", Limit.BANDWIDTH: "bandwidth", Limit.HOST: "host"}
UNKNOWN = ("Not known", "counts for no target")
NO_SOURCE = "no source says the {figure} of"
SOME = "no source tells how fast these products are:"
PRESS = "figures that are the press's word alone stand behind:"
NOTE = (
    "At best: the least time in which a chip can read, write and compute all of it, by the rates "
    "that its vendor says. Nothing was measured, and real runs take longer."
)
AT_LEAST = {False: "≥", True: ">="}
"""By whether a page is of ASCII alone."""
PRODUCTS = (
    "A chip that is sold as several products is ranked by the fastest that the model fits in."
)
ROOM = "What runtimes and kernels take of the memory beside that is not counted."
WEIGHTS, INPUTS = "{size} of weights", "{size} of inputs"
ACTIVATIONS, GRADIENTS = "{size} of activations", "{size} of gradients"
STATES = "{size} of optimizer states"


def headline(takes: int, may: int, of: int) -> str:
    """How many of the targets take the model."""
    unknown = f"; of {may:,} that is not known" if may else ""
    return f"{takes:,} of {text.plural(of, 'target')} can take it{unknown}"


def need(total: int) -> str:
    """What a run needs."""
    return f"a run needs {text.size(total)} at once:"


def operations(dtype: str, count: int) -> str:
    """How much is computed in a dtype."""
    return f"{text.operations(count)} in {dtype}"


def floor(ascii_alone: bool) -> str:
    """What the sign before a time means."""
    return (
        f"{AT_LEAST[ascii_alone]} stands where a rate is not known: no faster, by those that are."
    )


def fit(choice: Choice) -> str:
    """Whether it fits, in a table."""
    if choice.fit is Fit.SOME:
        return f"{sum(offer.fits is True for offer in choice.offers)} of {len(choice.offers)}"
    return FITS[choice.fit]
