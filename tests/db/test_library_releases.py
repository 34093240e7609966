"""The release of a library that a target is taken to have, and what that changes."""

from pathlib import Path

import pytest

from opcheck.db.library_releases import LibraryReleases
from opcheck.db.store import Database
from opcheck.errors import UsageError
from opcheck.model.target import Target, TargetSpec
from opcheck.model.verdict import Verdict
from tests.emulate.matrices import matrix_of

RELEASES = LibraryReleases(
    "packer", "pack", (("..2.3", "0.4"), ("2.4, 2.5", "0.5"), ("2.7..", "1"))
)


def target(torch: str, *libraries: tuple[str, str]) -> Target:
    return Target("v", "c", "1", torch, "npu", libraries)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (target("2.0"), "0.4"),
        (target("2.5"), "0.5"),
        (target("2.9"), "1"),
        (target("2.6"), "1"),  # of which nothing is said
        (target("2.0", ("other", "3"), ("packer", "0.9.1")), "0.9.1"),
    ],
)
def test_a_release_is_the_one_named_or_that_of_the_time(of: Target, expected: str) -> None:
    assert RELEASES.of(of) == expected


@pytest.mark.parametrize(
    ("name", "op", "codes"),
    [
        ("nvidia-h100@2.4.1", "bitsandbytes::int8_scaled_mm", ["library-not-built"]),
        ("nvidia-h100@2.4.1+bitsandbytes0.45", "bitsandbytes::int8_scaled_mm", []),
        ("nvidia-h100@2.4.1", "bitsandbytes::gemm_4bit", []),
        ("nvidia-a100@2.4.1", "bitsandbytes::int8_scaled_mm", []),
        ("nvidia-orin@2.5.1", "bitsandbytes::gemm_4bit", ["library-not-built"]),
        ("nvidia-orin@2.15.0", "bitsandbytes::int8_scaled_mm", ["library-not-built"]),
        ("amd-mi250@2.6.0", "bitsandbytes::gemm_4bit", ["library-not-built"]),
        ("amd-mi250@2.15.0", "bitsandbytes::gemm_4bit", []),
        ("ascend-910b@6.0.0", "bitsandbytes::gemm_4bit", ["library-refuses-device"]),
        (
            "apple-mps@2.6.0+bitsandbytes0.46.1",
            "bitsandbytes::gemm_4bit",
            ["library-refuses-device"],
        ),
        ("apple-mps@2.6.0+bitsandbytes0.46.1", "bitsandbytes::int8_scaled_mm", []),
        ("ascend-910b@6.0.0+torch2.4+bitsandbytes0.47", "bitsandbytes::gemm_4bit", []),
        ("intel-max@2.6.0", "bitsandbytes::gemv_4bit", ["library-refuses-device"]),
        ("nvidia-t4@2.3.1", "gptqmodel::awq_gemv_fast_linear", ["library-not-built"]),
        ("nvidia-t4@2.3.1", "gptqmodel::awq_linear", []),
        ("apple-mps@2.3.1", "gptqmodel::awq_linear", ["library-refuses-device"]),
        ("apple-mps@2.9.1", "gptqmodel::awq_linear", ["library-refuses-device"]),
        ("apple-mps@2.9.1+transformers5.1", "gptqmodel::awq_linear", []),
        ("apple-mps@2.3.1", "gptqmodel::gptq_linear", []),
        ("habana-gaudi2@1.18.0", "gptqmodel::awq_linear", ["library-refuses-device"]),
        ("nvidia-a100@2.3.1", "gptqmodel::awq_gemv_fast_linear", []),
        ("amd-mi300x@2.13.0", "gptqmodel::awq_gemv_linear", ["library-not-built"]),
        ("nvidia-t4@2.5.1", "finegrained_fp8::matmul_2d", ["library-refuses-device"]),
        ("nvidia-t4@2.9.1", "finegrained_fp8::matmul_2d", ["library-refuses-device"]),
        ("nvidia-t4@2.9.1+transformers5.3", "finegrained_fp8::matmul_2d", ["weights-made-whole"]),
        ("nvidia-h100@2.9.1", "finegrained_fp8::matmul_2d", []),
    ],
)
def test_what_a_library_does_depends_on_its_release(name: str, op: str, codes: list[str]) -> None:
    found = matrix_of(name).conditions.get(op, ())
    assert [condition.code for condition in found] == codes
    assert all(condition.evidence for condition in found)


def test_what_was_built_without_the_device_until_a_release_is_unknown_before() -> None:
    (found,) = matrix_of("amd-mi250@2.9.1").conditions["bitsandbytes::gemm_4bit"]
    assert found.verdict is Verdict.UNKNOWN


def test_a_kernel_with_an_instruction_of_newer_chips_is_not_built_for_older_ones() -> None:
    (found,) = matrix_of("nvidia-t4@2.3.1").conditions["gptqmodel::awq_gemv_linear"]
    assert found.verdict is Verdict.UNSUPPORTED
    assert str(found.text) == (
        "GPTQModel's kernels for AWQ's layouts gemv, gemv_fast and llm-awq do not build below "
        "compute capability 8.0: they have the instruction m16n8k16"
    )


def test_a_kernel_that_names_a_chip_and_holds_the_instructions_of_another_is_unknown() -> None:
    (found,) = matrix_of("amd-mi300x@2.13.0").conditions["gptqmodel::awq_gemv_fast_linear"]
    assert found.verdict is Verdict.UNKNOWN
    assert str(found.text) == (
        "GPTQModel names ROCm for AWQ's layouts gemv, gemv_fast and llm-awq, whose kernels hold "
        "instructions of NVIDIA's; whether they build there, nobody has said"
    )


def test_what_is_published_for_servers_alone_tells_the_way_for_boards() -> None:
    (found,) = matrix_of("nvidia-orin@2.13.0").conditions["bitsandbytes::gemm_4bit"]
    said = (
        "the published bitsandbytes is not built for Jetson, where it has to be built from source"
    )
    assert (found.verdict, str(found.text)) == (Verdict.UNSUPPORTED, said)


def test_a_matrix_tells_what_it_assumed_and_not_what_was_named() -> None:
    assert matrix_of("amd-mi250@2.3.1").libraries == {
        "bitsandbytes": ("bitsandbytes", "0.43.1"),
        "finegrained_fp8": ("transformers", "4.41.1"),
        "gptqmodel": ("transformers", "4.41.1"),
    }
    named = matrix_of("amd-mi250@2.3.1+bitsandbytes0.49.2+transformers5.0.0")
    assert named.libraries == {}
    assert named.database_digest != matrix_of("amd-mi250@2.3.1").database_digest


def test_a_target_is_written_with_the_releases_that_it_names(database: Database) -> None:
    text = "nvidia-h100@2.2.2+torch2.2+bitsandbytes0.45.0"
    spec = TargetSpec.parse(text)
    assert (str(spec), spec.libraries) == (text, (("bitsandbytes", "0.45.0"),))
    assert str(database.resolve(spec)) == text


@pytest.mark.parametrize("text", ["a-b+torch2.7+torch2.8", "a-b+bitsandbytes", "a-b+x1+torch2.7"])
def test_what_names_no_release_of_a_library_is_no_target(text: str) -> None:
    with pytest.raises(ValueError, match="not a target"):
        TargetSpec.parse(text)


def test_a_library_whose_releases_nothing_tells_apart_is_refused(database: Database) -> None:
    with pytest.raises(UsageError, match="no file of the database tells releases of numpy apart"):
        database.resolve(TargetSpec.parse("nvidia-h100+numpy2.1"))


def test_each_span_of_torch_is_in_one_place_alone(database: Database) -> None:
    from opcheck.db.by_hand.libraries import FOLDER, additions
    from opcheck.db.versions import covers

    found = [one.library for one in additions(Path(database.root) / FOLDER, None) if one.library]
    assert {one.package for one in found} == {"bitsandbytes", "transformers"}
    for library in found:
        for torch in (f"2.{minor}" for minor in range(16)):
            assert sum(covers(span, torch) for span, _ in library.assumed) == 1
