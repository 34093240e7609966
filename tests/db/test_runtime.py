"""What the vendor's runtime does under autocast, and what it says."""

from opcheck.db.store import Database
from opcheck.model.matrix import Message, SupportMatrix
from opcheck.model.target import TargetSpec
from opcheck.model.verdict import Evidence, Method


def _matrix(database: Database, target: str = "ascend-910b") -> SupportMatrix:
    return database.matrix(database.resolve(TargetSpec.parse(target)))


def test_autocast_policies(database: Database) -> None:
    autocast = _matrix(database).autocast
    assert {policy: len(ops) for policy, ops in autocast.items()} == {
        "lower_precision_fp": 34,
        "fp32": 46,
        "fp32_set_opt_dtype": 17,
        "promote": 10,
        "fp32_append_dtype": 3,
        "banned": 1,
    }
    every = [op for ops in autocast.values() for op in ops]
    assert len(set(every)) == len(every)
    assert set(every) <= set(_matrix(database).history)
    assert "aten::scaled_dot_product_attention" in autocast["lower_precision_fp"]
    assert "aten::softmax.int" in autocast["fp32_set_opt_dtype"]
    assert autocast["banned"] == ("aten::binary_cross_entropy",)


def test_the_fallback_warns_in_the_words_of_the_source(database: Database) -> None:
    """Put together from the pieces in VariableFallbackKernel.cpp."""
    pieces = (
        "CAUTION: The operator '",
        "{op}",
        "' is not currently supported ",
        "on the NPU backend and will fall back to run on the CPU.",
        " This may have performance implications.",
    )
    assert _matrix(database).fallback.text == "".join(pieces)


def test_messages(database: Database) -> None:
    messages = _matrix(database).messages
    commit = "928743e649ee25c8da47670791b2f7fee34fd3b0"
    path = "torch_npu/csrc/aten/VariableFallbackKernel.cpp"
    assert messages["sparse-not-supported"] == Message(
        "CAUTION: The operator '{op}' is not currently supported on the NPU backend.",
        raises=True,
        evidence=(Evidence(Method.REGISTERED, "Ascend/pytorch", path, None, commit, ""),),
        number="ERR01007",
    )
    assert {code for code, message in messages.items() if not message.raises} == {
        "computed-on-host",
        "float64-becomes-float32",
        "no-autograd-kernel",
    }
    assert all(message.evidence[0].commit for message in messages.values())
    assert "<" not in "".join(message.text for message in messages.values())


def test_conditions_that_quote_the_runtime_quote_its_message(database: Database) -> None:
    """The sentence about a use and the literal text are one and the same vendor's text."""
    quoting = 0
    for target in ("ascend-950@26.1.0", "ascend-910a@26.1.0"):
        matrix = _matrix(database, target)
        for op in (*matrix.conditions, "*"):
            for condition in matrix.conditions_for(op):
                if condition.code in matrix.messages and '"' in condition.text:
                    quoted = condition.text.split('"')[1].rstrip(".")
                    assert quoted in matrix.messages[condition.code].text
                    quoting += 1
    assert quoting
