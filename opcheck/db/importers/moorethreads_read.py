"""Moore Threads: what was read in torch_musa's code beyond the folder's own tables."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opcheck.db.importers.sources import load_yaml

_DATA = Path(__file__).with_name("moorethreads_code.yaml")


@cache
def code() -> Mapping[str, Any]:
    """The facts of ``moorethreads_code.yaml``."""
    data: Mapping[str, Any] = load_yaml(_DATA)
    return data
