"""What names mean across the files of a project: which class is meant, and whether of modules."""

from collections.abc import Iterator, Mapping

from opcheck.source.finding.facts import ClassFacts, FileFacts, FunctionFacts

_FURTHEST = 8
"""Steps from a name to what it means: imports of imports, bases of bases."""
_LIBRARY_MODULES = frozenset(
    {"Module", "LightningModule", "PreTrainedModel", "ModelMixin", "Sequential", "GraphModule"}
)
_MAKERS = frozenset(
    {"create_model", "get_model", "from_config", "from_pretrained", "Sequential", "Linear",
     "build_model", "segmentation_model"}
)  # fmt: skip
"""What in a library makes a model."""
_MODEL_LIBRARIES = ("torchvision.models", "timm", "transformers", "diffusers", "torch.hub")
Meant = tuple[FileFacts, ClassFacts | FunctionFacts]


class Names:
    """The Python files of a project, by what they are imported as."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self._files = files
        self._by_end: dict[str, list[FileFacts]] = {}
        for path, one in files.items():
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            parts = name.split(".")
            for start in range(max(0, len(parts) - _FURTHEST), len(parts)):
                self._by_end.setdefault(".".join(parts[start:]), []).append(one)

    def meant(self, file: FileFacts, name: str) -> Meant | None:
        """The class or function of the project that a name of a file means; None for others."""
        for _ in range(_FURTHEST):
            found = file.classes.get(name) or file.functions.get(name)
            if found is not None:
                return file, found
            full = self.full(file, name)
            module, _, name = full.rpartition(".")
            other = self._file(file, module)
            if other is None or not name:
                return None
            file = other
        return None

    def full(self, file: FileFacts, name: str) -> str:
        """A name with what was imported in place of its beginning: ``nn.Module`` in full."""
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            head = ".".join(parts[:end])
            if head in file.imports:
                return ".".join([file.imports[head], *parts[end:]])
        return name

    def _file(self, file: FileFacts, module: str) -> FileFacts | None:
        level = len(module) - len(module.lstrip("."))
        if level:
            folders = file.path.split("/")[:-level]
            if len(folders) < len(file.path.split("/")) - level:
                return None
            inner = [*folders, *filter(None, module[level:].split("."))]
            path = "/".join(inner)
            return self._files.get(f"{path}.py") or self._files.get(f"{path}/__init__.py")
        known = self._by_end.get(module, [])
        top = file.path.partition("/")[0]
        return next((one for one in known if one.path.partition("/")[0] == top), None) or next(
            iter(known), None
        )

    def bases(self, file: FileFacts, found: ClassFacts) -> Iterator[tuple[FileFacts, ClassFacts]]:
        """A class and those of the project that it is derived from, the nearest first."""
        todo, seen = [(file, found)], set[tuple[str, str]]()
        while todo and len(seen) < 8 * _FURTHEST:
            where, one = todo.pop(0)
            if (where.path, one.name) in seen:
                continue
            seen.add((where.path, one.name))
            yield where, one
            for base in one.bases:
                other = self.meant(where, base)
                if other is not None and isinstance(other[1], ClassFacts):
                    todo.append((other[0], other[1]))

    def is_module(self, file: FileFacts, found: ClassFacts) -> bool:
        """Whether a class is one of modules."""
        return any(
            self._of_library(where, base)
            for where, one in self.bases(file, found)
            for base in one.bases
        )

    def _of_library(self, file: FileFacts, base: str) -> bool:
        full = self.full(file, base)
        library, _, name = full.rpartition(".")
        return name in _LIBRARY_MODULES or library in ("torch.nn", "torchvision.models")

    def has_layers(self, file: FileFacts, found: ClassFacts) -> bool:
        """Whether a class makes layers or parameters; what does not is a function of its inputs."""
        return any(
            self._is_layer(where, name)
            for where, one in self.bases(file, found)
            for name in one.makes
        )

    def _is_layer(self, file: FileFacts, name: str) -> bool:
        full = self.full(file, name)
        if full.startswith(("torch.nn.", *_MODEL_LIBRARIES)):
            return not full.startswith("torch.nn.functional")
        other = self.meant(file, name)
        return (
            other is not None
            and isinstance(other[1], ClassFacts)
            and self.is_module(other[0], other[1])
        )

    def needs(self, file: FileFacts, found: ClassFacts) -> tuple[str, ...]:
        """What has to be given to a class's constructor."""
        for _, one in self.bases(file, found):
            if one.needs is not None and (one.needs or not one.passes_on):
                return one.needs
        full = self.full(file, found.bases[0]) if found.bases else ""
        return ("config",) if full.endswith("PreTrainedModel") else ()

    def forward(self, file: FileFacts, found: ClassFacts) -> tuple[str, ...] | None:
        """What has to be given to a class's forward; None where none is seen."""
        known = (one.forward for _, one in self.bases(file, found))
        return next((one for one in known if one is not None), None)

    def makes_model(self, file: FileFacts, name: str) -> bool:
        """Whether what a name of a library stands for makes a model."""
        full = self.full(file, name)
        library, _, last = full.rpartition(".")
        if full.startswith(_MODEL_LIBRARIES) and (last in _MAKERS or last.islower()):
            return True
        return library == "torch.nn" or (
            last in _MAKERS and full.startswith(("torch", *_MODEL_LIBRARIES))
        )

    def is_model_type(self, file: FileFacts, annotation: str) -> bool:
        """Whether an annotation names modules."""
        if not annotation:
            return False
        other = self.meant(file, annotation)
        if other is not None:
            return isinstance(other[1], ClassFacts) and self.is_module(other[0], other[1])
        return self._of_library(file, annotation)
