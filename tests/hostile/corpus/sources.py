"""A user's own Python, which commands run, and sources that lint reads and never runs."""

from typing import Any

from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made, write
from tests.hostile.corpus.documents import ESCAPES, odd
from tests.hostile.place import Place
from tests.hostile.valid import program

PYTHON = Corpus("Python source", "train.py", Family.PYTHON)
_HEAD = "import os, socket, subprocess, sys\nimport torch\n\nmodel = torch.nn.Linear(3, 4)\n"
_TAIL = "\ndef build():\n    return model, torch.ones(2, 3)\n"
_LINE = _HEAD.count("\n") + 1
"""Where the hostile line stands."""

_LINES: tuple[tuple[str, str, str, bool], ...] = (
    ("a_checkpoint_is_overwritten", "A training script saves when it is imported.",
     "torch.save(model.state_dict(), 'checkpoint.pt')", True),
    ("a_file_is_opened_to_write", "open for writing.", "open('checkpoint.pt', 'w')", True),
    ("a_log_is_appended_to", "open to append.", "open('log.txt', 'a').write('step 1')", True),
    ("a_folder_is_made", "Runs are kept in folders.", "os.makedirs('runs/1')", True),
    ("a_file_is_removed", "Old checkpoints are removed.", "os.remove('checkpoint.pt')", True),
    ("a_file_is_renamed", "A file is replaced by renaming.",
     "os.rename('checkpoint.pt', 'old.pt')", True),
    ("a_mode_is_changed", "chmod.", "os.chmod('checkpoint.pt', 0o600)", True),
    ("times_are_changed", "utime.", "os.utime('checkpoint.pt', (1, 1))", True),
    ("a_link_is_made", "A link to the last checkpoint.",
     "os.symlink('checkpoint.pt', 'last.pt')", True),
    ("home_is_written_to", "A dot file.",
     "open(os.path.expanduser('~/.bashrc'), 'a').write('x')", True),
    ("the_temp_folder_is_written_to", "A file in the temp folder, by its name.",
     "open(os.environ['TMPDIR'] + '/left', 'w')", False),
    ("a_shell_writes", "A shell of the script's.", "os.system('echo x > fresh.pt')", False),
    ("a_process_is_left", "A process that lives on.",
     "subprocess.Popen(['sleep', '{sleeping}'], start_new_session=True)", False),
    ("a_daemon_is_left", "The same, forked twice.",
     "os.fork() or (os.setsid(), os.fork() or os.execlp('sleep', 'sleep', '{sleeping}'))", False),
    ("a_connection", "A logger of runs connects.",
     "socket.create_connection(('127.0.0.1', {number}), 2)", False),
    ("a_datagram", "Statistics are sent.",
     "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {number}))", False),
    ("a_unix_socket", "A service of the machine.", "socket.socket(1).connect('{unix}')", False),
    ("everything", "All that payloads do.", "exec(open('bait/payload.py').read())", False),
)  # fmt: skip
for _name, _about, _text, _named in _LINES:

    def _script(place: Place, text: str = _text) -> Made:
        known = {"sleeping": place.sleeping, "number": place.number, "unix": place.unix}
        line = text.format(**known) if "{" in text else text
        write(place.project / "train.py", f"{_HEAD}{line}\n{_TAIL}")
        return Made("train.py:build")

    _script.__name__, _script.__doc__ = _name, _about
    PYTHON.case(runnable=True, runs_code=True, says=f"train.py:{_LINE}" if _named else "")(_script)


@PYTHON.case(runnable=True, runs_code=True, says=f"train.py:{_LINE + 4}")
def written_in_the_forward(place: Place) -> Made:
    """A model that logs what it is called with."""
    write(place.project / "train.py", _HEAD + "\nclass Net(torch.nn.Module):\n"
          "    def forward(self, x):\n        y = torch.relu(x)\n"
          "        torch.save(y, 'checkpoint.pt')\n        return y\n"
          "\ndef build():\n    return Net(), torch.ones(2, 3)\n")  # fmt: skip
    return Made("train.py:build")


@PYTHON.case(runs_code=True)
def ends_by_an_order(place: Place) -> Made:
    """A script that ends its process when it is imported."""
    write(place.project / "train.py", f"{_HEAD}os._exit(0)\n{_TAIL}")
    return Made("train.py:build")


@PYTHON.case(runnable=True, runs_code=True)
def stdout_is_redirected(place: Place) -> Made:
    """Code that puts something else in the place of stdout, and leaves it there."""
    write(place.project / "train.py", f"{_HEAD}import io, contextlib\n"
          f"contextlib.redirect_stdout(io.StringIO()).__enter__()\n{_TAIL}")  # fmt: skip
    return Made("train.py:build")


@PYTHON.case(runnable=True, runs_code=True)
def stdout_is_nothing(place: Place) -> Made:
    """The same with None, and closed descriptors."""
    write(place.project / "train.py",
          f"{_HEAD}sys.stdout = sys.stderr = None\nos.closerange(0, 3)\n{_TAIL}")  # fmt: skip
    return Made("train.py:build")


@PYTHON.case(runs_code=True)
def a_message_on_stdout(place: Place) -> Made:
    """Code that prints what a parent might take for the worker's answer."""
    write(place.project / "train.py", _HEAD +
          "for fd in range(1, 20):\n    try: os.write(fd, b'{\"kind\": \"result\"}\\n')\n"
          "    except OSError: pass\nos._exit(0)\n" + _TAIL)  # fmt: skip
    return Made("train.py:build")


INPUTS = Corpus("inputs", "inputs.py", Family.INPUTS)
_FILES: tuple[tuple[str, str, str], ...] = (
    ("a_file_that_writes", "The file of inputs is code, as a model's is.",
     "open('checkpoint.pt', 'w')\n"),
    ("a_file_that_shells", "The same by a shell.", "import os\nos.system('sh bait/payload.sh')\n"),
)  # fmt: skip
for _name, _about, _text in _FILES:

    def _file(place: Place, text: str = _text) -> Made:
        write(place.project / "model.pt2", program().packed())
        write(place.project / "inputs.py",
              f"import torch\n{text}\ndef make():\n    return [(torch.ones(2, 3),)]\n")  # fmt: skip
        return Made("model.pt2", ("--inputs", "inputs.py:make"))

    _file.__name__, _file.__doc__ = _name, _about
    INPUTS.case(runnable=True, runs_code=True)(_file)
_OPTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("inputs_of_a_pipe", "A named pipe for a file of inputs.", ("--inputs", "pipe.py:make")),
    ("inputs_of_a_device", "A device.", ("--inputs", "/dev/zero:make")),
    ("inputs_of_a_key", "The private key.", ("--inputs", "../home/.ssh/id_rsa:make")),
    ("inputs_of_a_dunder", "A name that is a path of attributes.",
     ("--inputs", "inputs.py:__builtins__.eval")),
    ("sizes_without_bounds", "A tensor of 2**62.", ("--input", f"x={2**62}x{2**62}")),
    ("sizes_of_many_digits", "More digits than Python turns into a number.",
     ("--input", f"x={'9' * 10_000}")),
    ("sizes_that_nest", "Lists, ten thousand deep.",
     ("--input", f"x={'[' * 10_000}{']' * 10_000}")),
    ("sizes_below_nothing", "A negative size.", ("--input", "x=-1x-1")),
    ("a_dtype_of_a_module", "A dtype that is looked up in torch.", ("--input", "x=2x3:save")),
    ("a_dtype_of_a_dunder", "The same.", ("--input", "x=2x3:__builtins__")),
    ("a_constant_that_is_code", "A constant.",
     ("--input", "x=__import__('os').system('sh bait/payload.sh')")),
    ("a_name_with_escapes", "A name that is shown.", ("--input", f"{ESCAPES}=2x3")),
    ("a_name_of_python", "A name that is an attribute.", ("--input", "__class__=2x3")),
    ("a_loss_of_a_key", "A file of a loss.", ("--step", "loss=../home/.ssh/id_rsa:x")),
    ("an_optimizer_of_a_module", "An optimizer is looked up in torch.optim.",
     ("--step", "optimizer=__builtins__")),
    ("a_dynamic_size_of_many_digits", "A dimension.", ("--dynamic", f"x:{'9' * 10_000}")),
    ("schemas_of_a_key", "A file of schemas.", ("--schemas", "../home/.ssh/id_rsa")),
    ("an_output_that_leads_out", "A format's file may be anywhere: it is the user who says so.",
     ("--format", "nobody=../x")),
)  # fmt: skip
for _name, _about, _given in _OPTIONS:

    def _option(place: Place, given: tuple[str, ...] = _given) -> Made:
        import os

        write(place.project / "model.pt2", program().packed())
        write(place.project / "inputs.py", "def make():\n    return []\n")
        os.mkfifo(place.project / "pipe.py")
        return Made("model.pt2", given)

    _option.__name__, _option.__doc__ = _name, _about
    INPUTS.case(runnable=True, opens_key="key" in _name)(_option)

LINT = Corpus("linted source", "src/net.py", Family.LINT)
_CUDA = (
    'import torch\nx = torch.ones(2).cuda()\nwith torch.cuda.amp.autocast():\n    y = "cuda:0"\n'
)
_SOURCES: tuple[tuple[str, str, str, Any], ...] = (
    ("code_at_import", "A source is read, not run.", "src/net.py",
     lambda place: payloads.python(place) + _CUDA),
    ("a_coding_of_a_module", "A coding is looked up among codecs, which are imported.",
     "src/net.py", lambda place: "# coding: hostile_import\n" + _CUDA),
    ("a_coding_that_decodes_to_code", "A coding in which a comment ends.", "src/net.py",
     lambda place: "# coding: unicode_escape\n# \\u000aimport hostile_import\n" + _CUDA),
    ("names_with_escapes", "Names and texts are shown.", "src/net.py",
     lambda place: _CUDA + f'torch.device("cuda:{ESCAPES[:40]!r}")\n'),
    ("brackets", "Brackets, ten thousand deep.", "src/net.py",
     lambda place: _CUDA + "(" * 10_000 + ")" * 10_000),
    ("signs", "A hundred thousand signs.", "src/net.py",
     lambda place: _CUDA + "x = " + "-" * 100_000 + "1\n"),
    ("attributes", "Fifty thousand attributes.", "src/net.py",
     lambda place: _CUDA + "x" + ".a" * 50_000 + "\n"),
    ("additions", "Fifty thousand additions.", "src/net.py",
     lambda place: _CUDA + "x = " + "'cuda' + " * 50_000 + "''\n"),
    ("indents", "Ninety-nine blocks.", "src/net.py",
     lambda place: "".join(f"{' ' * n}if x:\n" for n in range(99)) + " " * 99 + "x.cuda()\n"),
    ("a_long_line", "A line of four megabytes.", "src/net.py",
     lambda place: f"x = '{'cuda ' * 800_000}'\n"),
    ("a_pattern_that_backtracks", "Texts that nearly match.", "src/net.py",
     lambda place: "x = '" + "cuda:0,cuda:" * 50_000 + "!'\n"),
    ("zeros", "Bytes of zero.", "src/net.py", lambda place: _CUDA + "\0" * 1000),
    ("a_kernel_that_includes", "An include is a path.", "src/net.cu",
     lambda place: f'#include "{place.secret}"\n#include </dev/zero>\n__global__ void f() {{}}\n'),
    ("a_kernel_of_macros", "Macros that double.", "src/net.cu",
     lambda place: "#define A0 x\n" + "".join(
         f"#define A{n} A{n - 1} A{n - 1}\n" for n in range(1, 60))
     + "__global__ void f() { A59 }\n"),
    ("a_kernel_of_brackets", "Templates in templates.", "src/net.cu",
     lambda place: "__global__ void f() { " + "a<" * 50_000 + "b" + ">" * 50_000 + "}\n"),
    ("a_kernel_of_comments", "Comments that never end.", "src/net.cu",
     lambda place: "/*" * 100_000 + "<<<" * 50_000),
    ("a_raw_text", "A raw text that never ends.", "src/net.cu",
     lambda place: 'R"' + "(" * 100_000 + "__shfl_sync"),
    ("a_setup", "setup.py is code.", "src/setup.py",
     lambda place: payloads.python(place) + "\nfrom torch.utils.cpp_extension import *\n"),
    ("a_setting_of_the_folder", "Settings of other tools in the folder.", "src/conftest.py",
     lambda place: payloads.python(place)),
    ("a_comment_that_silences", "A comment with a pattern.", "src/net.py",
     lambda place: "x.cuda()  # opcheck: ignore[" + "(a+)+$" * 1000 + "]\n"),
)  # fmt: skip
for _name, _about, _path, _make in _SOURCES:

    def _linted(place: Place, path: str = _path, make: Any = _make) -> Made:
        write(place.project / path, make(place).encode("utf-8", "replace"))
        return Made("src")

    _linted.__name__, _linted.__doc__ = _name, _about
    LINT.case(runnable=True)(_linted)


@LINT.case(runnable=True, near=False, opens_key=True)
def a_folder_of_links(place: Place) -> Made:
    """Links that lead out of the folder and back to it."""
    folder = place.project / "src"
    folder.mkdir(exist_ok=True)
    (folder / "src").symlink_to(".")
    (folder / "key.py").symlink_to(place.secret)
    (folder / "zero.cu").symlink_to("/dev/zero")
    (folder / "root").symlink_to("/")
    return Made("src")


odd(LINT)
