"""A misspelt keyword is an error of the type checker, on the whole way from a verb to a request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Each call is right except for one letter.
CALLS = {
    "Collection.send": 'await collection.send("get", name="web", subresorce="status")',
    "Collection.send, an option": 'await collection.send("get", name="web", acept="*/*")',
    "Collection.request": 'await collection.request("get", name="web", max_retrys=0)',
}

SAMPLE = """
from kubeloop.clients.collection import Collection


async def calls(collection: Collection) -> None:
"""


@pytest.mark.timeout(300)
def test_a_misspelt_keyword_fails_mypy_at_every_step(tmp_path: Path) -> None:
    """TYP-1."""
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE + "".join(f"    {call}\n" for call in CALLS.values()))

    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(sample)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    first = SAMPLE.count("\n") + 1
    lines = {int(line.split(":")[1]) for line in ran.stdout.splitlines() if "keyword" in line}
    missed = [name for number, name in enumerate(CALLS, first) if number not in lines]
    assert missed == [], ran.stdout + ran.stderr
