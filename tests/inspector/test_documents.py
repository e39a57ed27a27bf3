"""What the inspector's page shows is there, and its tools work; its code runs in `test_pages`."""

from __future__ import annotations

import re
from pathlib import Path

import browser
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "inspector.md"


@pytest.mark.parametrize("picture", re.findall(r"\]\((../pictures/.*?)\)", PAGE.read_text("utf-8")))
def test_the_pictures_of_the_page_are_there(picture: str) -> None:
    assert (PAGE.parent / picture).exists()


def test_a_chromium_of_ones_own_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "chromium"
    mine.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(mine))

    assert browser.find() == str(mine)


def test_without_chromium_and_a_way_to_install_it_one_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))

    assert browser.main([]) == 1
    assert "set CHROMIUM to its path" in capsys.readouterr().err
