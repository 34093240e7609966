"""Files of YAML, TOML and CSV: policies, overlays, schemas and manifests."""

import json
from typing import Any

from tests.db.overlays import OVERLAY
from tests.hostile import payloads
from tests.hostile.case import Corpus, Family, Made, write
from tests.hostile.corpus.documents import ESCAPES, odd
from tests.hostile.corpus.scripts import scripted
from tests.hostile.place import Place
from tests.hostile.valid import program

_GROWING = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)
_ODD_YAML: tuple[tuple[str, str, Any], ...] = (
    ("a_tag_of_python", "Tags make objects of Python.",
     lambda place: f"evil: !!python/object/apply:os.system ['{payloads.shell(place)}']\n"),
    ("a_tag_of_a_module", "The same by the name of a module.",
     lambda place: "evil: !!python/module:hostile_import []\n"),
    ("a_tag_of_a_class", "The same of an object.",
     lambda place: f"evil: !!python/object/new:subprocess.Popen ['{payloads.shell(place)}']\n"),
    ("a_tag_of_nobody", "A tag that no reader knows.", lambda place: "evil: !include /dev/zero\n"),
    ("aliases_that_grow", "Aliases of aliases are a billion values.", lambda place: _GROWING),
    ("an_alias_of_itself", "A value within itself.", lambda place: "evil: &a [*a]\n"),
    ("a_key_twice", "A key twice.", lambda place: "evil: 1\nevil: 2\n"),
    ("a_key_of_a_list", "A key that is a list.", lambda place: "? [a, b]\n: c\n"),
    ("nested_in_line", "Brackets, ten thousand deep.", lambda place: f"evil: {'[' * 10_000}\n"),
    ("nested_in_blocks", "Dashes, ten thousand deep.", lambda place: "- " * 10_000 + "a\n"),
    ("a_number_of_many_digits", "A number without a text.",
     lambda place: f"evil: 0x{'f' * 20_000}\n"),
    ("two_documents", "A second document.", lambda place: "---\na: 1\n---\nb: 2\n"),
    ("escapes", "Keys with what a terminal obeys.", lambda place: json.dumps(ESCAPES) + ": 1\n"),
)  # fmt: skip


def _add(corpus: Corpus, before: str, cases: Any, near: bool = True) -> None:
    """Register cases that are a valid text with something behind it."""
    for name, about, make in cases:

        def one(place: Place, make: Any = make) -> str:
            return before + str(make(place))

        one.__name__, one.__doc__ = name, about
        leads_out = name == "a_baseline_that_leads_out"  # read it may be, and not be quoted
        corpus.case(runnable=True, near=near, opens_key=leads_out)(one)


POLICY = Corpus("policy", "policy.yaml", Family.POLICY)
_POLICY = "schema: opcheck.policy/1\ntargets: [ascend-910b]\n"
_add(POLICY, _POLICY, _ODD_YAML)
_add(POLICY, _POLICY, (
    ("a_baseline_that_leads_out", "The baseline is a path: here of the key.",
     lambda place: f"baseline: {place.secret}\n"),
    ("a_baseline_that_never_ends", "The same of a device.", lambda place: "baseline: /dev/zero\n"),
    ("a_baseline_of_the_environment", "The same of the environment.",
     lambda place: "baseline: /proc/self/environ\n"),
    ("waivers_that_backtrack", "Globs that a reader turns into regular expressions.",
     lambda place: f"waivers:\n  - {{operator: {json.dumps('*a' * 2000)}, reason: a, "
                   "expires: 2999-01-01}\n"),
    ("waivers_with_escapes", "Reasons of waivers are shown.",
     lambda place: f"waivers:\n  - {{operator: '*', reason: {json.dumps(ESCAPES)}, "
                   "expires: 2999-01-01}\n"),
    ("a_date_of_nobody", "A date that is none.",
     lambda place: "waivers:\n  - {operator: '*', reason: a, expires: 2026-99-99}\n"),
    ("limits_of_no_number", "Limits that are NaN and Infinity.",
     lambda place: "min-support-rate: .nan\nmax-islands: .inf\nmax-fallback-bytes: -1\n"),
    ("trust_in_a_policy", "A file that trusts itself.", lambda place: "trust: true\n"),
))  # fmt: skip
odd(POLICY)

PROJECT = Corpus("project file", "pyproject.toml", Family.POLICY)
_PROJECT = '[project]\nname = "net"\n\n[tool.opcheck]\ntargets = ["ascend-910b"]\n'
_add(PROJECT, _PROJECT, (
    ("a_baseline_that_leads_out", "The baseline is a path: here of the key.",
     lambda place: f'baseline = "{place.secret}"\n'),
    ("trust_in_a_project", "A file that trusts itself.", lambda place: "trust = true\n"),
    ("keys_of_many_parts", "A key of ten thousand parts.",
     lambda place: ".".join("a" * 10_000) + " = 1\n"),
    ("tables_that_nest", "Tables, ten thousand deep.",
     lambda place: f"x = {'{a=' * 10_000}1{'}' * 10_000}\n"),
    ("lists_that_nest", "Lists, ten thousand deep.",
     lambda place: f"x = {'[' * 10_000}{']' * 10_000}\n"),
    ("a_number_of_many_digits", "A number of twenty thousand digits.",
     lambda place: f"max-islands = {'9' * 20_000}\n"),
    ("no_number", "NaN for a number.", lambda place: "min-support-rate = nan\n"),
    ("a_date", "A date where a text is expected.", lambda place: "baseline = 2026-01-01\n"),
    ("escapes", "A text with what a terminal obeys.",
     lambda place: f"confidence = {json.dumps('[red]' + ESCAPES)}\n"),
    ("a_plugin", "Plugins of other tools that read this file.",
     lambda place: '\n[tool.pytest.ini_options]\naddopts = "-p hostile_import"\n'),
    ("a_backend", "A build backend beside it.",
     lambda place: '\n[build-system]\nrequires = []\nbuild-backend = "hostile_import"\n'
                   'backend-path = ["."]\n'),
))  # fmt: skip
odd(PROJECT)

OVERLAYS = Corpus("overlay", "db/evil.yaml", Family.OVERLAY)
_add(OVERLAYS, OVERLAY, _ODD_YAML)


def _replaced(corpus: Corpus, text: str, cases: Any) -> None:
    """Register cases that are a valid text with one part replaced."""
    for name, about, old, new in cases:
        assert old in text, old

        def one(place: Place, old: str = old, new: str = new) -> str:
            return text.replace(old, new)

        one.__name__, one.__doc__ = name, about
        corpus.case(runnable=True)(one)


_replaced(OVERLAYS, OVERLAY, (
    ("a_vendor_that_leads_out", "A vendor is a folder.", "vendor: ascend", "vendor: ../../home"),
    ("a_path_that_leads_out", "Sources are paths, which become links.", "path: report.md",
     "path: '../../home/.ssh/id_rsa'"),
    ("a_repository_that_is_code", "Repositories become links.", "repo: acme/lab",
     "repo: 'javascript:hostile()//\"><script>hostile()</script>'"),
    ("a_reason_with_escapes", "Reasons are shown.", "reason: >-\n  Measured in\n  our laboratory.",
     f"reason: {json.dumps(ESCAPES)}"),
    ("a_text_of_templates", "Texts of conditions are templates.", '"{argument} is {actual}"',
     '"{argument.__class__.__init__.__globals__} {actual!r:>1000000000}"'),
    ("an_operator_of_nobody", "Operators are names.", "aten::lgamma:", "'os.system(1)':"),
    ("a_span_of_nobody", "Releases are spans.", '"26.0.0.."', f'"{"9" * 10_000}.."'),
    ("a_date_of_nobody", "Dates.", '"2026-10-01"', '"9999-99-99"'),
))  # fmt: skip
odd(OVERLAYS)

SCHEMAS = Corpus("schemas", "schemas.yaml", Family.SCHEMAS)
_SCHEMAS = """\
schema: opcheck.schemas/1
library: mine
version: "1.0"
operators:
  mine::attend:
    signature: "(Tensor q, Tensor k, int heads=1) -> Tensor"
    sizes:
      q: [lead..., queries, width]
      k: [lead..., keys, width]
    returns:
      - {like: q, shape: [lead..., queries, heads * keys]}
functions:
  mine.attend: mine::attend
"""
_add(SCHEMAS, _SCHEMAS, _ODD_YAML)
_replaced(SCHEMAS, _SCHEMAS, (
    ("a_library_of_the_user", "The library is a module, which something stands in for.",
     "library: mine", "library: hostile_import"),
    ("a_library_of_python", "One that is there.", "library: mine", "library: os"),
    ("a_library_of_torch", "Another.", "library: mine", "library: torch"),
    ("a_library_that_leads_out", "A name that is a path.", "library: mine",
     "library: ../../hostile_import"),
    ("a_size_that_is_code", "Sizes are expressions.", "heads * keys",
     "\"__import__('os').system('sh bait/payload.sh')\""),
    ("a_size_that_divides_by_nothing", "The same.", "heads * keys", "keys // 0"),
    ("a_size_beyond_all_measure", "The same.", "heads * keys", f"\"{'9' * 5000} * keys\""),
    ("a_size_that_nests", "The same.", "heads * keys", f'"{"(" * 5000}keys{")" * 5000}"'),
    ("a_signature_that_is_code", "Signatures are texts that torch parses.",
     "(Tensor q, Tensor k, int heads=1) -> Tensor",
     "(Tensor q=__import__('os').system('sh bait/payload.sh')) -> Tensor"),
    ("a_signature_that_nests", "The same.", "(Tensor q, Tensor k, int heads=1) -> Tensor",
     "(Tensor" + "[]" * 10_000 + " q) -> Tensor"),
    ("a_function_of_python", "Functions are names of modules.", "mine.attend: mine::attend",
     "os.system: mine::attend"),
    ("an_operator_of_aten", "Operators have a namespace.", "mine::attend:", "aten::relu:"),
))  # fmt: skip
odd(SCHEMAS)

MANIFEST = Corpus("manifest", "models.yaml", Family.MANIFEST)


def _models(place: Place) -> None:
    """What the manifests name."""
    write(place.project / "good.pt2", program().packed())
    write(place.project / "evil.pth", payloads.pickled(payloads.shell(place)))
    write(place.project / "evil.pt", scripted(f'_0 = torch.save(input, "{place.checkpoint}")'))
    write(place.project / "net.py", "import torch\n\ndef model():\n    return torch.nn.ReLU()\n")
    write(place.project / "train.py", payloads.python(place))
    write(place.project / "nets" / "good.pt2", program().packed())
    (place.project / "nets" / "nets").symlink_to(".")


_MANIFESTS: tuple[tuple[str, str, Any], ...] = (
    ("trust_of_its_own", "A manifest that trusts what it names.",
     lambda place: "- {source: evil.pth, trust: true}\n"),
    ("trust_by_default", "The same for all.",
     lambda place: "defaults: {trust: true}\nmodels: [evil.pth, bait/payload.pt]\n"),
    ("trust_in_other_words", "The same as a text and a number.",
     lambda place: "models:\n  - {source: evil.pth, trust: 'yes'}\n"
                   "  - {source: bait/payload.pt, trust: 1}\n"),
    ("a_source_that_is_an_option", "A source that is an option.",
     lambda place: "- --trust\n- {source: evil.pth, name: --trust}\n"),
    ("a_source_that_leads_out", "Sources begin at the manifest.",
     lambda place: f"- ../home/.ssh/id_rsa\n- {place.secret}\n- hf:{place.secret}\n"),
    ("a_source_that_never_ends", "Devices.", lambda place: "- /dev/zero\n- hf:/dev/zero\n"),
    ("a_pattern_of_everything", "A pattern that leads to the root.",
     lambda place: "- ../**/*.pth\n- /proc/self/**\n"),
    ("a_script_of_the_user", "Python by the name of an input.",
     lambda place: "- {source: evil.pt, input: [2x3]}\n"),
    ("inputs_of_a_file", "inputs names a Python file, which is run.",
     lambda place: "- {source: good.pt2, inputs: 'train.py:model'}\n"),
    ("a_loss_of_a_file", "So does the loss.",
     lambda place: "- {source: good.pt2, step: ['loss=train.py:model']}\n"),
    ("schemas_that_lead_out", "schemas are files.",
     lambda place: f"- {{source: good.pt2, schemas: ['{place.secret}', /dev/zero]}}\n"),
    ("limits_of_no_number", "Limits that are no numbers.",
     lambda place: "- {source: good.pt2, timeout: .nan, memory: .inf}\n"),
    ("limits_below_nothing", "Limits below nothing.",
     lambda place: "- {source: good.pt2, timeout: -1, memory: -1}\n"),
    ("limits_beyond_all_measure", "Limits that are no limits.",
     lambda place: f"- {{source: good.pt2, timeout: 1e308, memory: {10**300}}}\n"),
    ("names_with_escapes", "Names are shown.",
     lambda place: f"- {{source: good.pt2, name: {json.dumps(ESCAPES)}}}\n"),
    ("names_that_are_paths", "Names become names of files.",
     lambda place: "- {source: good.pt2, name: ../../checkpoint.pt}\n"),
    ("names_twice", "One name twice.",
     lambda place: "- {source: good.pt2, name: a}\n- {source: good.pt2, name: a}\n"),
    ("manifests_of_manifests", "A manifest that names itself.",
     lambda place: "- models.yaml\n- ./models.yaml\n- nets\n- nets/**\n"),
    ("models_by_the_hundred_thousand", "Fifty thousand models that are not there.",
     lambda place: "".join(f"- {{source: m{n}.pt2, schemas: a{n}}}\n" for n in range(50_000))),
    *_ODD_YAML,
)  # fmt: skip
for _name, _about, _make in _MANIFESTS:

    def _manifest(place: Place, make: Any = _make) -> str:
        _models(place)
        return str(make(place))

    _manifest.__name__, _manifest.__doc__ = _name, _about
    MANIFEST.case(runnable=True, limit=120, runs_code=_name in ("inputs_of_a_file",
                  "a_loss_of_a_file"), opens_key=_name.endswith(("lead_out", "leads_out"))
                  )(_manifest)  # fmt: skip
_TABLES: tuple[tuple[str, str, str], ...] = (
    ("a_table_that_trusts", "A table that trusts what it names.", "source,trust\nevil.pth,true\n"),
    ("a_table_of_formulas", "Cells that a spreadsheet would compute.",
     "source,name\ngood.pt2,\"=cmd|'/C calc'!A0\"\n"),
    ("a_table_with_zeros", "Bytes of zero in a table.", "source\ngood\0.pt2\n"),
    ("a_table_of_a_long_cell", "A cell of a megabyte.", f"source\n{'a' * 2**20}\n"),
    ("a_table_without_sources", "A table without the one column.", "name\nx\n"),
    ("a_table_of_many_columns", "Columns twice, and ten thousand of them.",
     "source,source" + ",x" * 10_000 + "\na,b\n"),
    ("a_table_with_a_quote", "A quote that never ends.", 'source\n"good.pt2\n' + "x\n" * 1000),
)  # fmt: skip
for _name, _about, _text in _TABLES:

    def _table(place: Place, text: str = _text) -> Made:
        _models(place)
        write(place.project / "models.csv", text)
        return Made("models.csv")

    _table.__name__, _table.__doc__ = _name, _about
    MANIFEST.case(runnable=True)(_table)
odd(MANIFEST)
