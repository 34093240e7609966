"""Exported programs whose sizes are expressions: torch has sympy evaluate them, as Python."""

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family
from tests.hostile.place import Place
from tests.hostile.valid import Json, program

CORPUS = Corpus("program sizes", "model.pt2", Family.MODEL)


def sized(expression: str, hint: Json = 2, everywhere: bool = True) -> bytes:
    """The dynamic program with another expression for its first size."""
    made = program("dynamic")
    size = {"as_expr": {"expr_str": expression, "hint": None if hint is None else {"as_int": hint}}}
    made.sizes["x"]["sizes"][0] = size
    if everywhere:
        for name in ("linear", "relu"):
            made.sizes[name]["sizes"][0] = size
        made.graph["sym_int_values"]["sym_size_int_1"] = size
    return made.packed()


@CORPUS.case()
def a_python_expression(place: Place) -> bytes:
    """sympify hands the text to eval."""
    return sized(payloads.expression(place))


@CORPUS.case()
def a_python_expression_in_a_call(place: Place) -> bytes:
    """The same as an argument of what an exporter writes."""
    return sized(f"Mul(Integer(2), {payloads.expression(place)})")


@CORPUS.case()
def a_keyword_of_a_symbol(place: Place) -> bytes:
    """The same as an assumption of a symbol."""
    return sized(f"Symbol('s77', integer={payloads.expression(place)})")


@CORPUS.case()
def a_range_named_by_code(place: Place) -> bytes:
    """Ranges are keyed by expressions, which are parsed as well."""
    made = program("dynamic")
    made.document["range_constraints"][payloads.expression(place)] = {"min_val": 0, "max_val": 9}
    return made.packed()


@CORPUS.case()
def code_in_a_stride(place: Place) -> bytes:
    """Strides and offsets are expressions as sizes are."""
    made = program("dynamic")
    code = {"as_expr": {"expr_str": payloads.expression(place), "hint": {"as_int": 1}}}
    made.sizes["x"]["strides"][1] = code
    made.sizes["x"]["storage_offset"] = code
    return made.packed()


@CORPUS.case()
def code_in_a_condition(place: Place) -> bytes:
    """So are truth values."""
    made = program("dynamic")
    code = {"as_expr": {"expr_str": payloads.expression(place), "hint": {"as_bool": True}}}
    made.graph["sym_bool_values"]["evil"] = code
    return made.packed()


@CORPUS.case()
def code_in_a_float(place: Place) -> bytes:
    """And floats."""
    made = program("dynamic")
    code = {"as_expr": {"expr_str": payloads.expression(place), "hint": {"as_float": 1.0}}}
    made.graph["sym_float_values"]["evil"] = code
    return made.packed()


_EXPRESSIONS = (
    ("infinity", "A size that is no number.", "Infinity"),
    ("oo", "The same in sympy's words.", "oo"),
    ("not_a_number", "The same.", "nan"),
    ("complex_infinity", "The same.", "zoo"),
    ("remainder_of_nothing", "A division by zero while the text is read.", "Mod(1,0)"),
    ("quotient_of_nothing", "The same with a symbol.", "s77//0"),
    ("quotient_in_sympys_words", "The same in the words of an exporter.", "FloorDiv(s77, 0)"),
    ("float_quotient", "A size that is a fraction.", "s77/3"),
    ("many_signs", "Twenty thousand operators nest as deep.", "-" * 20_000 + "1"),
    ("many_brackets", "The same with brackets.", "(" * 20_000 + "1" + ")" * 20_000),
    ("many_calls", "The same with calls.", "Max(" * 5000 + "s77" + ",1)" * 5000),
    ("many_terms", "A million terms.", "s77+" * 500_000 + "1"),
    ("a_tower_of_powers", "A number that no machine holds.", "2**2**2**2**2**2"),
    ("a_power_of_a_size", "A polynomial of a billion terms.", "(s77+1)**10**9"),
    ("a_shift", "Another number that no machine holds.", "1<<10**10"),
    ("a_factorial", "A function of sympy that takes for ever.", "factorial(10**8)"),
    ("a_prime", "Another one.", "nextprime(10**2000)"),
    ("a_sum_without_end", "Another one.", "Sum(s77, (s77, 1, 10**12)).doit()"),
    ("many_digits", "More digits than Python turns into a number.", "9" * 100_000),
    ("a_float", "No integer.", "1e400"),
    ("an_imaginary_size", "No real number.", "I*s77"),
    ("an_attribute", "Attributes lead to classes, and these to everything.",
     "().__class__.__base__.__subclasses__()"),
    ("a_lambda", "A function without end.", "(lambda f: f(f))(lambda f: f(f))"),
    ("a_comprehension", "A list without bounds.", "sum([1 for i in range(10**12)])"),
    ("a_walrus", "A name that is given a value.", "(Mod := 3)"),
    ("a_text", "A size that is a text.", "'x'*10**10"),
    ("nothing", "No expression at all.", ""),
    ("two_lines", "More than one expression.", "1\nimport os"),
    ("full_width_digits", "Digits of another script, which Python takes for digits.", "１２"),
    ("a_name_of_nobody", "A symbol that nothing declares.", "s99"),
    ("less_than_nothing", "A negative size.", "-s77"),
    ("too_many_elements", "A size whose product overflows.", "s77*2**62"),
    ("a_maximum_of_nothing", "A call without arguments.", "Max()"),
    ("a_call_with_too_many", "A call with too many.", "Mod(1,2,3,4,5)"),
    ("a_relation", "A truth value for a size.", "s77 < 3"),
)  # fmt: skip
_WITHOUT_END = frozenset((
    "many_terms", "a_tower_of_powers", "a_power_of_a_size", "a_shift", "a_factorial", "a_prime",
    "a_sum_without_end", "a_comprehension", "a_text", "an_attribute", "two_lines",
))  # fmt: skip
"""What torch itself is not to be asked about: it evaluates them."""
_TAKEN_BY_TORCH = frozenset(("float_quotient", "too_many_elements"))
for _name, _about, _text in _EXPRESSIONS:

    def _one(place: Place, text: str = _text) -> bytes:
        return sized(text)

    _one.__name__, _one.__doc__ = _name, _about
    CORPUS.case(harmless=_name not in _WITHOUT_END, runnable=_name in _TAKEN_BY_TORCH)(_one)


@CORPUS.case(harmless=True)
def a_hint_beyond_all_measure(place: Place) -> bytes:
    """The hint is what a reader computes with."""
    return sized("s77", hint=2**200)


@CORPUS.case(harmless=True)
def a_hint_below_nothing(place: Place) -> bytes:
    """A negative one."""
    return sized("s77", hint=-5)


@CORPUS.case(harmless=True)
def a_range_without_values(place: Place) -> bytes:
    """The least value of a symbol is above the greatest: no input fits."""
    made = program("dynamic")
    made.document["range_constraints"]["s77"] = {"min_val": 64, "max_val": 2}
    return made.packed()


@CORPUS.case(harmless=True, runnable=True)
def a_range_beyond_all_measure(place: Place) -> bytes:
    """Bounds that are no integers of 64 bits."""
    made = program("dynamic")
    made.document["range_constraints"]["s77"] = {"min_val": -(10**400), "max_val": 10**400}
    return made.packed()
