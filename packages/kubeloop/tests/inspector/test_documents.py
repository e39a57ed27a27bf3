"""The pictures of the page about the inspector exist; `test_pages` runs its code."""

from __future__ import annotations

import re
from pathlib import Path

import browser
import pytest

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "inspector.md"


@pytest.mark.parametrize(
    "picture", re.findall(r"\]\((\.\./pictures/.*?)\)", PAGE.read_text("utf-8"))
)
def test_the_pictures_of_the_page_exist(picture: str) -> None:
    assert (PAGE.parent / picture).exists()


def test_the_environment_selects_a_chromium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "chromium"
    mine.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(mine))

    assert browser.find() == str(mine)


def test_without_chromium_the_error_shows_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))

    assert browser.main([]) == 1
    assert "set CHROMIUM to its path" in capsys.readouterr().err
