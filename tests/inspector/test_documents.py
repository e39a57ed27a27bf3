"""The code of the inspector's page in the documentation runs, and so do its tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import browser
import pytest

import kubeloop
from kubeloop.inspector import Inspector
from kubeloop.testing import APIServer

PAGE = Path(__file__).parents[2] / "docs" / "inspector.md"


async def test_the_code_of_the_page_runs(
    server: APIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(server.kubeconfig())
    monkeypatch.setenv("KUBECONFIG", str(config))
    programs: list[Any] = []
    monkeypatch.setattr(kubeloop, "run", programs.append)
    names: dict[str, Any] = {}

    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    await programs[0]

    assert len(blocks) == 4
    assert isinstance(names["Inspector"](names["manager"]), Inspector)
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("picture", re.findall(r"\]\((pictures/.*?)\)", PAGE.read_text("utf-8")))
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
