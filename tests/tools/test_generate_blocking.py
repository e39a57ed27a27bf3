"""The blocking clients are generated from the async ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from generate_blocking import main


def test_the_blocking_clients_are_up_to_date() -> None:
    """If this fails, run: python tools/generate_blocking.py"""
    assert main(["--check"]) == 0


@pytest.mark.timeout(60)  # generates all files three times
def test_a_file_that_was_changed_by_hand_is_detected(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert main(["--out", str(tmp_path), "--check"]) == 0

    (tmp_path / "clients.py").write_text("changed")

    assert main(["--out", str(tmp_path), "--check"]) == 1
