"""Cambricon: the tables that were taken from torch_mlu's code and documents, release by release."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from opcheck.db.importers.cambricon_lists import list_file, read_release, releases
from opcheck.db.importers.sources import load_yaml, source_files
from opcheck.db.versions import nearest, version_key
from opcheck.errors import DatabaseError

CODE = "torch_mlu/csrc"
_LOWER = {"high": "medium", "medium": "low"}
Row = Mapping[str, Any]


class Table(Struct, frozen=True):
    """Rows of one kind that bear on a release."""

    source: str
    """Id of the source that they cite."""
    rows: Sequence[Row]
    own: bool
    """Taken from the release itself, not from the one nearest to it."""

    def evidence(self, confidence: str, method: str) -> dict[str, str]:
        """How sure a condition is that a row states, and how it is known."""
        if self.own:
            return {"confidence": confidence, "method": method}
        return {"confidence": _LOWER[confidence], "method": "inferred"}


class Tables(Struct, frozen=True, dict=True):
    """Every table of one release; where it has none of a kind, that of the release nearest to it.

    Which is nearest goes by the version of torch_mlu, then by the torch that it is built against.
    """

    folder: Path
    release: str

    @cached_property
    def dtypes(self) -> Table:
        """Dtypes of kernels that are reached through PyTorch's TensorIterator, by CNNL's name."""
        return self._code("cnnl_op_params", "params")

    @cached_property
    def dispatched(self) -> Table:
        """Dtypes of kernels that use a dispatch macro, by its label."""
        return self._code("kernel_dtype_dispatch", "rows")

    @cached_property
    def checked(self) -> Table:
        """Statements that raise an error."""
        return self._code("runtime_checks", "rows")

    @cached_property
    def narrowed(self) -> Table:
        """Files whose kernels cast int64 to int32."""
        return self._code("int64_downcast_sites", "rows")

    @cached_property
    def apis(self) -> Table:
        """Public APIs that have limitations, with the line of each."""
        chosen = self._nearest("torch_api")
        path = self.folder / f"torch_api@{chosen}.yaml"
        lines = {
            line.partition("api:")[2].strip(): number
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if line.lstrip().startswith("- api:")
        }
        said = (item for section in load_yaml(path) for apis in section.values() for item in apis)
        rows = [
            {"api": item["api"], "says": item["limitations"], "line": lines[item["api"]]}
            for item in said
            if item.get("limitations")
        ]
        return Table("apis", rows, chosen == self.release)

    def sources(self) -> dict[str, dict[str, str]]:
        """The file's table of sources."""
        files = source_files(self.folder)
        found = {"functions": files[list_file(self.release)].as_data()}
        used = (self.dtypes, self.dispatched, self.checked, self.narrowed)
        for name in sorted({"code", *(table.source for table in used)}):
            ref = name.partition("-")[2]
            found[name] = {**files[list_file(ref or self.release)].as_data(), "path": CODE}
            found[name] |= {"note": self._note("tables")} if ref else {}
        apis = self._nearest("torch_api")
        found["apis"] = files[f"torch_api@{apis}.yaml"].as_data()
        found["apis"] |= {"note": self._note("list")} if apis != self.release else {}
        return found

    def _note(self, what: str) -> str:
        return f"of the release nearest to {self.release}, whose own {what} were not at hand"

    def _code(self, kind: str, key: str) -> Table:
        chosen = self._nearest(kind)
        rows = load_yaml(self.folder / f"{kind}@{chosen}.yaml")[key]
        own = chosen == self.release
        return Table("code" if own else f"code-{chosen}", rows, own)

    def _nearest(self, kind: str) -> str:
        """The release whose table of a kind bears on this one."""
        prefix = f"{kind}@"
        names = sorted(p.stem.removeprefix(prefix) for p in self.folder.glob(f"{prefix}*.yaml"))
        known = [name for name in names if name in releases(self.folder)]
        if not known:
            raise DatabaseError(f"{self.folder} has no {kind}", "give the folder of sources")
        versions = {read_release(self.folder, name).version: name for name in known}
        wanted = read_release(self.folder, self.release).version
        return versions[nearest(wanted, tuple(sorted(versions, key=version_key)))]
