"""The programs of the tutorial pass a strict type checker as they are printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.page_reader import ROOT, Reader
from tests.test_tutorial import PAGES


@pytest.mark.timeout(300)
def test_the_tutorial_passes_mypy_strict_as_printed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for page in PAGES:
        reader.write_files(page)
    files = sorted(path.name for path in tmp_path.glob("*.py"))

    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            *("--cache-dir", str(ROOT / ".mypy_cache"), *files),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(files) == 7
    assert (ran.stdout, ran.returncode) == ("", 0), ran.stderr
