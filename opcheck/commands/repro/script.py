"""The script: one file that needs torch, and for a device its plugin, and nothing of the model."""

import textwrap
from collections.abc import Iterator, Sequence

from opcheck.commands.repro.arguments import argument, omitted, operator
from opcheck.commands.repro.values import Repro
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.model.text import printable
from opcheck.views.terminal.words import IN_PHASE

SEED = 0
_WIDTH = 88

_HEAD = '''\
{comment}

import argparse
import platform
from importlib import metadata

import torch

TARGET = "{target}"
PACKAGES = ({packages})
SEED = {seed}


def tensor(dtype, shape, stride, device, high=4):
    """{tensor}"""
    size = 1 + sum((n - 1) * step for n, step in zip(shape, stride)) if 0 not in shape else 0
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex64 if dtype.is_complex else torch.float32
        flat = torch.randn(size, dtype=wide).to(dtype)
    else:
        low = 1 if high > 1 and dtype != torch.bool else 0
        flat = torch.randint(low, high, (size,)).to(dtype)
    flat = torch.empty(size, dtype=dtype, device=device).copy_(flat)  # .to() may change the dtype
    if torch.empty_strided(shape, stride, device="meta").is_contiguous():
        return flat.view(shape)
    return flat.as_strided(shape, stride)


def arguments(device):
    """{arguments}"""
    torch.manual_seed(SEED)
    return {{
{items}
    }}


def call(device):
    """{call}"""
    with torch.set_grad_enabled({gradients}):
        return {operator}(**arguments(device))
'''
_BODY = '''

def tensors(value):
    """{tensors}"""
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    return [t for item in value for t in tensors(item)] if isinstance(value, (list, tuple)) else []


def run(device):
    """{run}"""
    found = tensors(call(device))
    for number, result in enumerate(found):
        print(f"result {{number}}: {{result.dtype}} {{tuple(result.shape)}} on {{result.device}}")
    if torch.device(device).type == "cpu":
        return
    for number, (ours, host) in enumerate(zip(found, tensors(call("cpu")))):
        if ours.shape == host.shape and host.numel():
            wide = torch.complex128 if host.is_complex() else torch.float64
            off = (ours.cpu().to(wide) - host.to(wide)).abs().max().item()
            print(f"result {{number}}: largest difference to the CPU {{off}}")


def versions():
    """{versions}"""
    print("python", platform.python_version(), "on", platform.platform())
    for package in PACKAGES:
        try:
            print(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            print(package, "is not installed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="{device}")
{option}    options = parser.parse_args()
    versions()
{emulate}{plugin}    run(torch.device(options.device))


if __name__ == "__main__":
    main()
'''
_OPTION = '    parser.add_argument("--emulate", action="store_true", help={help!r})\n'
_EMULATE = """\
    if options.emulate:
        import opcheck

        with opcheck.emulate(TARGET) as device:
            run(device)
        return
"""
_PLUGIN = """\
    if options.device != "cpu":
        import {module}  # noqa: F401
"""


def script(repro: Repro) -> str:
    """The text of the script, its comments in the language of the run.

    Raises:
        UsageError: the call cannot be written down.
    """
    left_out = [text for given in repro.arguments if (text := omitted(given))]
    given = [each for each in repro.arguments if not omitted(each)]
    packages = tuple(dict.fromkeys(("torch", repro.package, _library(repro))))
    device = repro.target.device_type
    head = _HEAD.format(
        comment=_comment(repro, left_out),
        target=str(repro.target),
        packages=", ".join(f'"{name}"' for name in packages if name) + ",",
        seed=SEED,
        tensor=tell("A tensor of drawn values; high=1 draws zeros, for places in another tensor."),
        arguments=tell("The arguments of the call, as traced."),
        items="\n".join(f"        {argument(each)}," for each in given),
        call=tell("The call itself."),
        gradients=any(each.differentiated for each in given),
        operator=operator(repro.op),
    )
    body = _BODY.format(
        tensors=tell("Every tensor of a result."),
        run=tell("Make the call, and compare it with the CPU."),
        versions=tell("Print what this runs on."),
        device=device,
        option=_OPTION.format(help=tell("run on opcheck's emulated device"))
        if repro.emulated
        else "",
        emulate=_EMULATE if repro.emulated else "",
        plugin=_PLUGIN.format(module=repro.module) if repro.module else "",
    )
    imported = _library(repro)
    if imported:
        head = head.replace("import torch\n", f"import torch\nimport {imported}  # noqa: F401\n", 1)
    return head + body


def _library(repro: Repro) -> str:
    return repro.op.namespace if repro.op.namespace == "torchvision" else ""


def _comment(repro: Repro, left_out: Sequence[str]) -> str:
    lines = [line for text in _paragraphs(repro, left_out) for line in _wrapped(text)]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text, kept=""), _WIDTH, break_on_hyphens=False) or [""]


def _paragraphs(repro: Repro, left_out: Sequence[str]) -> Iterator[str]:
    """The paragraphs of the comment."""
    finding, device = repro.finding, repro.target.device_type
    verdict = f"{tell(finding.verdict)} ({finding.reason.code})"
    yield f"{finding.op} · {repro.target} · {verdict} · {tell(IN_PHASE[finding.phase])}"
    yield tell(finding.reason.text)
    yield ""
    on = "on {device}, after import {module}" if repro.module else "on {device}"
    told = tell(Sentence(on, device=device, module=repro.module))
    yield f"    python SCRIPT.py                # {told}"
    yield f"    python SCRIPT.py --device cpu   # {tell('on the host')}"
    if repro.emulated:
        yield f"    python SCRIPT.py --emulate      # {tell('on an emulated device of opcheck')}"
    yield ""
    yield tell(
        Sentence(
            "Values are drawn from a seed: operator, dtypes, sizes and constants are those of "
            "finding {id}.",
            id=finding.id,
        )
    )
    if not repro.strides:
        yield tell("The report has no strides: every tensor is contiguous here.")
    for text in left_out:
        yield tell(Sentence("Left at its default: {text}", text=text))
    yield tell(
        Sentence(
            "Written by opcheck {version}, traced with torch {torch}.",
            version=repro.opcheck_version,
            torch=repro.torch_version,
        )
    )
