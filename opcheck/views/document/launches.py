"""Kernels that a model brings itself, as JSON and back."""

from opcheck.model.launches import KernelCode, Language, Launch, Operation
from opcheck.model.trace import Phase
from opcheck.views.document.parts import Json
from opcheck.views.document.reading import Node


def launch_value(launch: Launch) -> Json:
    """One launch as JSON."""
    code = launch.kernel
    return {
        "kernel": code.name,
        "language": code.language.value,
        "file": code.file,
        "line": code.line,
        "where": launch.where,
        "phase": launch.phase,
        "count": launch.count,
        "programs": launch.programs,
        "parameters": list(code.parameters),
        "dtypes": [{"name": name, "dtype": dtype} for name, dtype in launch.dtypes],
        "constants": [{"name": name, "value": value} for name, value in launch.constants],
        "constexprs": list(code.constants),
        "operations": list(map(_operation_value, code.operations)),
        "named_dtypes": list(code.dtypes),
        "unread": list(code.unread),
    }


def _operation_value(operation: Operation) -> Json:
    return {
        "name": operation.name,
        "line": operation.line,
        "of": list(operation.of),
        "given": [{"name": name, "value": value} for name, value in operation.given],
    }


def read_launch(node: Node) -> Launch:
    """A launch as :func:`launch_value` writes it."""
    code = KernelCode(
        name=node.text("kernel"),
        file=node.text("file"),
        line=node.number("line"),
        language=node.member("language", Language),
        parameters=node.texts("parameters"),
        constants=node.texts("constexprs"),
        operations=tuple(map(_read_operation, node.items("operations"))),
        dtypes=node.texts("named_dtypes"),
        unread=node.texts("unread"),
    )
    return Launch(
        kernel=code,
        where=node.text("where"),
        phase=node.member("phase", Phase).value,
        dtypes=tuple((each.text("name"), each.text("dtype")) for each in node.items("dtypes")),
        constants=_named(node, "constants"),
        programs=node.number("programs"),
        count=node.number("count"),
    )


def _read_operation(node: Node) -> Operation:
    return Operation(
        node.text("name"), node.number("line"), node.texts("of"), _named(node, "given")
    )


def _named(node: Node, key: str) -> tuple[tuple[str, str], ...]:
    return tuple((each.text("name"), each.text("value")) for each in node.items(key))
