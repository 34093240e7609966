"""The tools that a client of the Model Context Protocol is given, and how each is answered.

Names and descriptions are in English, as everything that programs read; answers are in the
language of the server.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import anyio
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from opcheck.commands.mcp.pages import Pages
from opcheck.commands.mcp.running import run_command, run_shim
from opcheck.commands.mcp.values import SHIM, Answer, Ran, ServerSettings
from opcheck.errors import ExitCode, UsageError
from opcheck.lang.sentence import Sentence
from opcheck.lang.speech import tell
from opcheck.version import __version__

INSTRUCTIONS = (
    "opcheck checks whether a PyTorch model runs on an accelerator without having one: scan it, "
    "plan what to change, fix it, and explain single operators. What nobody has documented is "
    "unknown, never supported. Every verdict names its evidence. Paths are those of this machine: "
    "give absolute ones."
)
Source = Annotated[
    str,
    Field(
        description="A model: a file (.pt2, TorchScript, .gguf), FILE.py:NAME of a module or of a "
        "function that makes one, hf:FOLDER with a config.json, torchvision:NAME, timm:NAME."
    ),
]
Targets = Annotated[
    list[str],
    Field(
        description="Such as ascend-910b, h100 or ascend-910b@26.1.0+torch2.7; see targets. "
        "Empty: the newest release of each."
    ),
]
Target = Annotated[str, Field(description="Such as ascend-910b; see targets.")]
Inputs = Annotated[
    tuple[str, ...],
    Field(description="Example inputs: ids=1x128:int64, 1x3x224x224, n=5; empty: inferred."),
]
Train = Annotated[bool, Field(description="A training step instead of a forward.")]
Verbose = Annotated[bool, Field(description="Everything that is otherwise summarised.")]
Offset = Annotated[
    int,
    Field(ge=0, description="Where in the answer to begin, as the part before said."),
]
Format = Annotated[Literal["text", "json"], Field(description="A page, or the whole document.")]
Way = Annotated[
    Literal["diff", "shim", "graph"],
    Field(
        description="diff: changes to the user's Python files, as text. shim: a Python file that "
        "registers the kernels the target lacks. graph: a .pt2 with other calls; needs a folder."
    ),
]
Allow = Annotated[
    Literal["exact", "tolerance", "approximate"],
    Field(description="The least exact fixes to follow."),
]
Folder = Annotated[
    str,
    Field(
        description="An existing folder that opcheck_shim.py or opcheck_fixed.pt2 is written to, "
        "over nothing that is there; empty: nothing is written, and a shim is given as text."
    ),
]
GRAPH = "opcheck_fixed.pt2"
ANSWERED = (ExitCode.PASS, ExitCode.GATE)
"""Codes of a command that could answer, whatever the answer."""


class Tools:
    """The tools; their docstrings are what a client reads."""

    def __init__(self, shared: ServerSettings) -> None:
        self._shared = shared
        self._pages = Pages(shared.characters)
        self._turn = anyio.Lock()

    async def scan(
        self,
        source: Source,
        targets: Targets,
        inputs: Inputs = (),
        train: Train = False,
        verbose: Verbose = False,
        format: Format = "text",
        offset: Offset = 0,
    ) -> CallToolResult:
        """Check whether a PyTorch model runs on accelerators, where not, and why."""
        words = ["scan", *self._model(targets, inputs, train), *_shown(format, verbose)]
        return await self._answer([*words, "--", source], offset)

    async def plan(
        self,
        source: Source,
        targets: Targets,
        inputs: Inputs = (),
        train: Train = False,
        verbose: Verbose = False,
        format: Format = "text",
        offset: Offset = 0,
    ) -> CallToolResult:
        """Scan, and find the cheapest measured change for each operator that does not run."""
        words = ["plan", *self._model(targets, inputs, train), *_shown(format, verbose)]
        return await self._answer([*words, "--", source], offset)

    async def fix(
        self,
        source: Source,
        target: Target,
        way: Way = "diff",
        folder: Folder = "",
        allow: Allow = "exact",
        inputs: Inputs = (),
        train: Train = False,
        offset: Offset = 0,
    ) -> CallToolResult:
        """Carry out a plan; the user's own files are never changed."""
        if way == "graph" and not folder:
            return _refused(
                UsageError(
                    Sentence("a .pt2 file cannot be given as text"),
                    Sentence("name a folder to write it to"),
                )
            )
        words = ["fix", *self._model([target], inputs, train), f"--allow={allow}"]
        if way == "diff":
            return await self._answer([*words, "--diff", "--", source], offset)
        if folder or way == "graph":
            place = Path(folder, SHIM if way == "shim" else GRAPH)
            return await self._answer([*words, f"--{way}={place}", "--", source], offset)
        return await self._answer([*words, "--", source], offset, run_shim)

    async def explain(
        self,
        operator: Annotated[str, Field(description="aten::gelu, aten.gelu.default, or gelu.")],
        targets: Targets,
        verbose: Verbose = False,
        format: Format = "text",
        offset: Offset = 0,
    ) -> CallToolResult:
        """Show how an operator fares on targets: conditions, releases and evidence."""
        words = ["explain", *self._shared.common(), *_targets(targets), *_shown(format, verbose)]
        return await self._answer([*words, "--", operator], offset)

    async def targets(self, format: Format = "text", offset: Offset = 0) -> CallToolResult:
        """List the targets: names, devices, newest releases and the torch that each serves."""
        words = ["targets", *self._shared.common(), *_shown(format, False)]
        return await self._answer(words, offset)

    def _model(self, targets: Sequence[str], inputs: Sequence[str], train: bool) -> list[str]:
        given = [*_targets(targets), *(f"--input={text}" for text in inputs)]
        return [*given, *(["--train"] if train else []), *self._shared.of_model()]

    async def _answer(
        self,
        words: Sequence[str],
        offset: int,
        run: Callable[[Sequence[str]], Awaitable[Ran]] = run_command,
    ) -> CallToolResult:
        """Run a command line, or go on with what it gave; one at a time.

        What a client chose stands behind a ``=`` or behind ``--``, so that none of it is an option.
        """
        call = tuple(words)
        async with self._turn:
            answer = self._pages.kept(call) if offset else None
            if answer is None:
                answer = _read(await run(words), JSON in words)
                self._pages.keep(call, answer)
        try:
            part, note = self._pages.part(answer.text, offset)
        except UsageError as error:
            return _refused(error)
        return _result([part] if note is None else [part, tell(note)], answer.failed)


def server_of(shared: ServerSettings) -> MCPServer:
    """The server with its tools, not yet run."""
    server: MCPServer = MCPServer(
        "opcheck", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    tools = Tools(shared)
    for tool in (tools.scan, tools.plan, tools.fix, tools.explain, tools.targets):
        hints = ToolAnnotations(
            read_only_hint=tool != tools.fix, destructive_hint=False, open_world_hint=False
        )
        server.add_tool(tool, annotations=hints, structured_output=False)
    return server


JSON = "--format=json"


def _shown(format: str, verbose: bool) -> list[str]:
    """How an answer is written; ``--verbose`` of a page alone, as a document has everything."""
    return [JSON] if format == "json" else ["--verbose"] if verbose else []


def _targets(names: Sequence[str]) -> list[str]:
    return [f"--target={name}" for name in names]


def _read(ran: Ran, document: bool) -> Answer:
    """What a command wrote; the notes on stderr are no part of a document."""
    if ran.code not in ANSWERED:
        return Answer(f"{ran.err}\n{ran.out}".strip(), failed=True)
    return Answer(ran.out if document else f"{ran.out}\n{ran.err}".strip())


def _refused(error: UsageError) -> CallToolResult:
    return _result(["\n  ".join(map(tell, filter(None, (error.message, error.hint))))], True)


def _result(texts: Sequence[str], failed: bool) -> CallToolResult:
    content = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=list(content), is_error=failed)
