"""What ``--step`` takes, and what it says of all else."""

import pytest

from opcheck.errors import UsageError
from opcheck.model.request import TrainingSpec


def test_without_texts_it_is_adamw_as_torch_chooses_it() -> None:
    assert TrainingSpec.parse(()) == TrainingSpec()
    assert (TrainingSpec().optimizer, TrainingSpec().implementation) == ("adamw", "")


def test_every_part_is_read_and_the_last_of_one_name_holds() -> None:
    texts = (
        "optimizer=sgd", "optimizer=adam:fused", "autocast=bfloat16", "scaler=true", "clip=0.5",
        "loss=dir/file.py:loss", "checkpointing=false", "wrap=fsdp2",
    )  # fmt: skip
    assert TrainingSpec.parse(texts) == TrainingSpec(
        "adam", "fused", "bfloat16", True, 0.5, "dir/file.py:loss", False, "fsdp2"
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("optimzer=sgd", "unknown part 'optimzer'", "did you mean optimizer=adamw:fused?"),
        ("optimizer", "no value", "write optimizer=adamw:fused"),
        ("optimizer=", "no value", "write optimizer=adamw:fused"),
        ("optimizer=adamv", "unknown optimizer 'adamv'", "give one of adam, radam, nadam"),
        (
            "optimizer=radam:fused",
            "radam has no implementation 'fused'",
            "give one of plain, foreach",
        ),
        ("autocast=float64", "cannot cast to 'float64'", "give one of float16, bfloat16"),
        ("clip=nan", "'nan' is no norm", "write clip=1.0"),
        ("clip=-1", "'-1' is no norm", "write clip=1.0"),
        ("wrap=fsdp", "unknown wrapper 'fsdp'", "give one of ddp, fsdp2"),
        ("scaler=yes", "'yes' is neither true nor false", "write scaler=true"),
        ("loss=loss", "'loss' is not the name of a function", "write FILE.py:NAME"),
    ],
)
def test_what_it_does_not_take_is_named_with_what_it_does(
    text: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        TrainingSpec.parse((text,))
    assert caught.value.message == f"--step {text!r}: {message}"
    assert caught.value.hint == hint
