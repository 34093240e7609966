"""Any report that the types allow, in the contract's spelling."""

from hypothesis import strategies as st

from opcheck.model import emulation as run
from opcheck.model import plan
from opcheck.model import report as values
from opcheck.model.trace import Gap, Phase
from opcheck.model.verdict import Confidence, Evidence, Method, Verdict

TEXT = st.text(max_size=12)
WORD = st.text(min_size=1, max_size=12)
COUNT = st.integers(0, 10**9)
SOME = st.integers(1, 10**6)
OFF_DEVICE = (Verdict.FALLBACK, Verdict.UNSUPPORTED, Verdict.UNKNOWN)
NAME = st.from_regex(r"[a-z_]{1,6}::[a-z_]{1,8}(\.[A-Za-z]{1,6})?", fullmatch=True)


def tuples(of: st.SearchStrategy[object], most: int = 3) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=most).map(tuple)


reasons = st.builds(
    values.Reason, st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5})?", fullmatch=True), WORD
)
evidence = st.builds(Evidence, st.sampled_from(Method), WORD, TEXT, st.none() | SOME, TEXT, TEXT)
places = st.builds(values.Place, TEXT, TEXT, COUNT, tuples(WORD), tuples(NAME), SOME)
SIZE = st.floats(0, allow_infinity=True)
distances = st.builds(plan.Difference, SIZE, SIZE)
declined = st.builds(plan.Declined, WORD, st.sampled_from(plan.Tier), TEXT)
suggestions = st.builds(
    plan.Suggestion,
    rule=WORD,
    tier=st.sampled_from(plan.Tier),
    label=st.sampled_from(plan.Label),
    replaces=NAME,
    summary=TEXT,
    code=TEXT,
    function=TEXT,
    gives_up=TEXT,
    whole=st.booleans(),
    runs_as=tuples(NAME),
    calls=COUNT,
    memory=COUNT,
    measured=st.none() | st.builds(plan.Measured, tuples(TEXT), distances, st.none() | distances),
    unmeasured=TEXT,
    tolerance=st.floats(0, 1e6),
    on_device=st.booleans(),
    by_hand=st.booleans(),
    places=tuples(COUNT),
    evidence=tuples(evidence),
    declined=tuples(declined, 2),
)
rates = st.none() | st.floats(0, 1).map(lambda rate: round(rate, 4))
plans = st.builds(
    plan.PlanSummary,
    tuples(
        st.builds(
            plan.AfterTier,
            st.sampled_from(plan.Tier),
            rates,
            st.none() | st.booleans(),
            tuples(NAME),
        )
    ),
    tuples(NAME),
)
findings = st.builds(
    values.Finding,
    WORD,
    NAME,
    st.sampled_from(Verdict),
    st.sampled_from(Confidence),
    reasons,
    SOME,
    st.sampled_from(Phase),
    tuples(places),
    tuples(evidence),
    tuples(suggestions, 2),
    tuples(declined, 2),
    tuples(WORD, 2),
)
kernels = st.builds(
    values.KernelCount, NAME, st.sampled_from(Verdict), SOME, st.sampled_from(Phase)
)
counts = st.dictionaries(st.sampled_from(Verdict), COUNT)
summaries = st.builds(
    values.Summary,
    rates,
    st.none() | st.booleans(),
    counts,
    counts,
    COUNT,
    COUNT,
)
targets = st.builds(
    values.TargetReport,
    WORD, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, summaries,
    tuples(findings, 5), st.none() | tuples(kernels), tuples(reasons), st.none() | plans,
    TEXT,
    partitions=tuples(st.builds(values.Partition, st.booleans(), SOME, TEXT)),
    segments=tuples(st.builds(values.Segment, st.none() | st.sampled_from(OFF_DEVICE), SOME, TEXT)),
)  # fmt: skip
traces = st.builds(
    values.TraceInfo,
    st.sampled_from(["inference", "train"]),
    TEXT,
    COUNT,
    COUNT,
    tuples(st.builds(Gap, TEXT, WORD)),
    tuples(WORD),
    tuples(WORD),
)
reports = st.builds(
    values.Report, WORD, TEXT, st.builds(values.ModelInfo, TEXT, TEXT, TEXT), traces,
    tuples(targets),
)  # fmt: skip

sites = tuples(st.builds(run.Site, TEXT, TEXT, COUNT))
phases = st.sampled_from(Phase)
differences = st.builds(
    run.Difference, WORD, tuples(COUNT), WORD, st.none() | st.floats(0, allow_infinity=True)
)
disagreements = st.builds(
    run.Disagreement, NAME, st.sampled_from(["native", "missing", "refused"]), phases, COUNT, COUNT
)
agreements = st.builds(run.Agreement, COUNT, COUNT, COUNT, tuples(disagreements))
emulations = st.builds(
    run.Emulation,
    WORD, TEXT, WORD, TEXT, st.builds(values.ModelInfo, TEXT, TEXT, TEXT),
    st.sampled_from(["inference", "train"]), st.booleans(), st.booleans(), TEXT,
    st.none() | st.builds(run.Site, TEXT, TEXT, COUNT),
    tuples(st.builds(run.Refusal, NAME, reasons, TEXT, SOME, phases, sites), 5),
    tuples(st.builds(run.HostCalls, NAME, reasons, SOME, COUNT, phases, sites)),
    tuples(st.builds(run.Caution, NAME, reasons, SOME, phases, sites)),
    COUNT, tuples(kernels), st.none() | tuples(differences), st.none() | agreements,
    tuples(WORD), TEXT,
)  # fmt: skip
