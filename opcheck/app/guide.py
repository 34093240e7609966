"""What stands below the options in ``--help``: examples, forms of input, exit codes."""

from collections.abc import Iterable, Mapping
from typing import Any

from opcheck.errors import ExitCode

MORE = "more"
"""Panel of the options that the short help leaves out."""
EXAMPLES = (
    "opcheck scan model.pt2 -t ascend-910b",
    "opcheck scan hf:path/to/config.json -t ascend-910a -t ascend-910b@26.1.0",
    "opcheck scan path/to/file.py:build --input ids=1x128:int64 --format json",
    "opcheck scan torchvision:resnet50 -t all",
    "opcheck scan model.pt2 -t ascend-910b --format text --format json=report.json",
    "opcheck convert report.json --format sarif=report.sarif --format junit=report.xml",
    "opcheck scan timm:vit_tiny_patch16_224 -t ascend-910b --step optimizer=adamw:fused",
    "opcheck scan path/to/file.py:build -t google-tpu-v4 --dynamic ids:1",
    "opcheck plan path/to/file.py:build -t moorethreads-s4000@1.3.0",
    "opcheck fix path/to/file.py:build -t moorethreads-s4000@1.3.0 --shim shim.py",
    "opcheck fix path/to/file.py:build -t moorethreads-s4000@1.3.0 --diff --write",
    "opcheck fix path/to/file.py:build -t ascend-310b --patch patched_layers.py",
    "opcheck fix model.pt2 -t moorethreads-s4000@1.3.0 --graph fixed.pt2 --allow tolerance",
    "opcheck fix path/to/file.py:build -t ascend-910b --custom-op special_erfcx --into erfcx",
    "opcheck fix path/to/file.py:build -t ascend-910b --better --graph fused.pt2",
    "opcheck fix path/to/file.py:build -t google-tpu-v4 --dynamic ids:1 --wrapper padded.py",
    "opcheck lint path/to/project -t ascend-910b",
    "opcheck doctor -t ascend-910b@8.x --write Dockerfile",
    "opcheck tune torchvision:resnet50 -t ascend-910b",
    "opcheck tune torchvision:resnet50 -t nvidia-a100 --product 40GB-PCIe --train",
    "opcheck init -t ascend-910b",
    "opcheck gate path/to/file.py:build",
    "opcheck gate report.json -t ascend-910b --write-baseline opcheck-baseline.json",
    "opcheck fleet models.yaml -t ascend-910b -t moorethreads-s4000",
    "opcheck rules aten::isin",
    "opcheck models llama -t ascend-910b",
    "opcheck upgrade torchvision:resnet50 -t ascend-910b@6.0.0+torch2.1",
    "opcheck choose torchvision:resnet50 -t ascend -t nvidia-a100",
    "opcheck run -t ascend-910b train.py --lr 0.1",
    "opcheck run -t ascend-910b --steps 2 -- torchrun --nproc-per-node 8 train.py",
    "opcheck run -t ascend-910b --steps 2 --compare train.py",
    "opcheck emulate torchvision:resnet50 -t ascend-910b --train",
    "opcheck emulate path/to/file.py:build -t ascend-910a --values --check",
    "opcheck repro path/to/file.py:build aten::special_i0 -t ascend-910b -o repro.py",
    "opcheck repro report.json 3f2a91c07b5e -t ascend-910b",
    "opcheck probe --device npu -t ascend-910b --dtype float32 --op 'fft_*'",
    "opcheck probe -t ascend-910b --emulate --op erfinv --into probe",
    "opcheck explain aten::gelu -t ascend-910b",
    "opcheck db status",
    "opcheck db diff ascend@26.0.0 ascend@26.1.0",
    "opcheck db diff ascend-910b --db probe",
    "opcheck db show ascend-910b aten::gelu --db path/to/overlays",
)
FIRST = (
    "opcheck scan path/to/file.py:build -t ascend-910b",
    "opcheck run -t ascend-910b train.py --lr 0.1",
    "opcheck plan path/to/file.py:build -t moorethreads-s4000@1.3.0",
    "opcheck gate path/to/file.py:build",
    "opcheck choose torchvision:resnet50 -t ascend -t nvidia-a100",
)
"""What a newcomer copies."""
INPUTS: Mapping[str, str] = {
    "ids=1x128:int64": "a tensor for the parameter named ids",
    "1x3x224x224": "a tensor by position, float32 unless told",
    "scale=:float32": "a tensor without dimensions",
    "n=5, flag=true, m=none": "a constant",
    "xs=[1x8:int64,1x8]": "a list of tensors or constants",
}
"""``--input`` as people write it -> what comes of it; forms that share a line have commas."""
DYNAMIC: Mapping[str, str] = {
    "ids:1": "the second dimension of the input named ids",
    "x:2,3": "height and width of x, together and each alone",
    "0:0": "the first dimension of the first input",
}
"""``--dynamic`` as people write it -> what comes of it."""
STEPS: Mapping[str, str] = {
    "optimizer=adamw:fused": "of torch.optim; with :plain, :foreach or :fused",
    "autocast=bfloat16": "the forward under torch.autocast",
    "scaler=true": "the loss scaled by a GradScaler",
    "clip=1.0": "all gradients clipped to this norm",
    "loss=FILE.py:NAME": "a function of the model's output; else its own loss, or a sum of means",
    "checkpointing=true": "activations computed again in backward",
    "wrap=ddp": "trained among processes, by DDP; or wrap=fsdp2, by fully_shard",
}
"""``--step`` as people write it -> what comes of it."""
EXIT_CODES: Mapping[ExitCode, str] = {
    ExitCode.PASS: "there is an answer",
    ExitCode.CRASH: "a bug in opcheck",
    ExitCode.USAGE: "the command line, a target, a source kind or a policy is not understood",
    ExitCode.MODEL: "the model cannot be loaded, traced or emulated, ends its process, or calls no "
    "operator; a script fails, or never uses the device",
    ExitCode.DATABASE: "the database is missing, damaged, of another version, or too old",
    ExitCode.GATE: "the gate failed, emulate or run with --stop met a refusal, emulate --check "
    "a disagreement or a run that ended early, a proof failed, an export did not come through, "
    "fix mended nothing, or doctor "
    "found what does not go together",
}


def write_examples(formatter: Any, examples: Iterable[str] = EXAMPLES) -> None:
    """Command lines, never wrapped, so that they can be copied."""
    with formatter.section("Examples"):
        for line in examples:
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def write_more(formatter: Any) -> None:
    """That there is more than the short help has."""
    formatter.write_paragraph()
    formatter.write_text("--help-all shows every option and form, all examples and exit codes.")


def write_start(formatter: Any) -> None:
    """Where somebody begins who has a model, or a script."""
    formatter.write_paragraph()
    formatter.write_text(
        "Start here: opcheck scan for a model, opcheck run for a script. opcheck COMMAND --help "
        "shows a command, --help-all every example and the exit codes."
    )


def write_sources(formatter: Any) -> None:
    """The forms of SOURCE; their kinds are imported here."""
    from opcheck.source.load import kinds

    with formatter.section("Sources"):
        formatter.write_dl([(kind.name, kind.help) for kind in kinds()])


def write_inputs(formatter: Any) -> None:
    """The forms of ``--input``."""
    with formatter.section("Inputs"):
        formatter.write_dl(list(INPUTS.items()))


def write_dynamic(formatter: Any) -> None:
    """The forms of ``--dynamic``."""
    with formatter.section("Dynamic sizes"):
        formatter.write_dl(list(DYNAMIC.items()))


def write_steps(formatter: Any) -> None:
    """The forms of ``--step``."""
    with formatter.section("Training step"):
        formatter.write_dl(list(STEPS.items()))


def write_exit_codes(formatter: Any) -> None:
    """What the process exits with."""
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code.value), text) for code, text in EXIT_CODES.items()])
