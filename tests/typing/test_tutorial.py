"""The programs of the tutorial pass `mypy --strict` as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = sorted((DOCS / "tutorial").glob("**/*.md"))
# A block with the name of a file: the reader writes it under that name.
PROGRAM = re.compile(r'^```python title="([\w.]+\.py)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def _programs() -> dict[str, str]:
    """The files that a reader of all pages has, by name."""
    found: dict[str, str] = {}
    for page in PAGES:
        for name, text in PROGRAM.findall(page.read_text(encoding="utf-8")):
            assert found.get(name, text) == text, f"{page.name}: two versions of {name}"
            found[name] = text
    return found


@pytest.mark.timeout(300)
def test_the_programs_of_the_tutorial_pass_mypy_strict(tmp_path: Path) -> None:
    """TYP-1: in a folder of the reader, without the settings of this project."""
    programs = _programs()
    assert len(programs) >= 6
    assert "controller.py" in programs
    for name, text in programs.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *sorted(programs)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
