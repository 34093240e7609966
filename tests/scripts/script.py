"""Training scripts in the style of public projects, and how each is started."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from opcheck.commands.run import answer
from opcheck.model.request import ModelSpec
from opcheck.model.script import ScriptRequest, ScriptRun, ScriptSpec
from opcheck.model.target import TargetSpec
from opcheck.views.formats import Page, command_view

TARGETS = ("ascend-910b", "cambricon-mlu590", "moorethreads-s5000")
_PROGRAMS = Path(__file__).with_name("programs")
_WIDE = Page(width=10_000, quiet=True)


class Script(Struct, frozen=True):
    """A script of ours and its command line."""

    style: str
    """What it is written in the style of."""
    words: str
    """What follows ``opcheck run -t TARGET``."""

    @property
    def spec(self) -> ScriptSpec:
        """The script with its arguments."""
        return ScriptSpec.parse(self.words.removeprefix("-- ").split())


SCRIPTS: Mapping[str, Script] = {
    "nanogpt": Script("nanoGPT", "nanogpt.py --max-iters 3 --dtype float16"),
    "glue": Script("Transformers, run_glue", "glue.py --fp16 --learning_rate 3e-5"),
    "clm": Script("Transformers, run_clm", "clm.py --gradient_checkpointing"),
    "classification": Script(
        "torchvision references, classification", "classification.py --amp --batch-size 4"
    ),
    "channels_last": Script(
        "the same with channels last", "classification.py --channels-last --batch-size 4"
    ),
    "detection": Script("torchvision references, detection", "detection.py --lr 0.02"),
    "unconditional": Script("Diffusers, unconditional", "unconditional.py --use_ema"),
    "lora": Script("Diffusers, LoRA", "lora.py --rank 4 --mixed_precision fp16"),
    "timm_train": Script("timm, train", "timm_train.py --amp --opt adamw"),
    "yolo": Script("Ultralytics, train", "yolo.py --epochs 1"),
    "gan": Script("a GAN with two optimizers", "gan.py --niter 2"),
    "reinforce": Script("reinforcement learning", "reinforce.py --gamma 0.99"),
    "seq2seq": Script("translation with teacher forcing", "seq2seq.py --teacher-forcing 0.5"),
    "contrastive": Script("SimCLR", "contrastive.py --temperature 0.07"),
    "ddp": Script(
        "DistributedDataParallel", "-- torchrun --nproc-per-node 4 ddp.py --epochs 1 --sync-bn"
    ),
    "fsdp2": Script(
        "fully_shard", "-- torchrun --nproc-per-node 2 fsdp2.py --layers 2 --mixed-precision"
    ),
    "tensor_parallel": Script(
        "tensor parallelism", "-- torchrun --nproc-per-node 4 tensor_parallel.py"
    ),
    "checkpointing": Script("gradient checkpointing", "checkpointing.py --depth 4 --reentrant"),
    "ema": Script("a teacher that is an average", "ema.py --decay 0.99"),
    "amp_by_hand": Script("mixed precision by hand", "amp_by_hand.py --loss-scale 1024"),
    "vae": Script("PyTorch examples, vae", "vae.py --epochs 1"),
    "quickstart": Script("PyTorch's quickstart, a notebook", "quickstart.ipynb"),
}


class Tried(Struct, frozen=True):
    """A script that was run for a target."""

    run: ScriptRun
    headline: str
    """What the first line says of it, without the command."""
    seconds: float
    left: tuple[str, ...]
    """Files that are there afterwards and were not before."""


def tried(script: Script, target: str, folder: Path) -> Tried:
    """Run a script in an empty folder, as the command does."""
    spec = script.spec
    shutil.copy(_PROGRAMS / spec.name, folder)
    request = ScriptRequest(spec, ModelSpec(spec.name), TargetSpec.parse(target))
    with _in(folder):
        begins = time.monotonic()
        run = answer.run(request)
        took = time.monotonic() - begins
    told = command_view("run", "text").render(run, _WIDE)
    left = {path.name for path in folder.iterdir()} - {spec.name}
    return Tried(run, told.partition(f": {spec.name}")[0], took, tuple(sorted(left)))


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
