"""The examples and the sample programs beside this file, read by a type checker besides mypy.

`make check` runs mypy over them, as over everything; pyright is what editors use.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = (*sorted(HERE.glob("sample_*.py")), HERE.parent.parent / "examples")
BESIDE = Path(sys.executable).parent


@pytest.mark.timeout(120)
def test_pyright_understands_the_examples_and_the_sample_programs() -> None:
    """TYP-1: the verbs of a kind are typed as its own."""
    pyright = shutil.which("pyright", path=str(BESIDE)) or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")

    ran = subprocess.run(
        [pyright, "--outputjson", "--pythonpath", sys.executable, *map(str, PROGRAMS)],
        capture_output=True,
        text=True,
        check=False,
    )

    try:
        found = json.loads(ran.stdout)["generalDiagnostics"]
    except ValueError:
        pytest.skip(f"pyright does not run here: {ran.stderr.strip()[-200:]}")
    assert [(each["range"]["start"]["line"] + 1, each["message"]) for each in found] == []
