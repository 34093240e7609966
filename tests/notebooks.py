"""Notebooks as Jupyter saves them, for tests."""

import json
from pathlib import Path
from typing import Any


def notebook(path: Path, *cells: str, language: str = "python", **metadata: Any) -> Path:
    """Save code cells as a notebook; ``metadata`` is that of each cell."""
    about = {"kernelspec": {"name": "some", "language": language, "display_name": "Some"}}
    code = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": metadata,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["old\n"]}],
            "source": cell.splitlines(keepends=True),
        }
        for cell in cells
    ]
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# A title\n"]}
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": [text, *code]})
    )
    return path
