"""The page about the command line says what really happens: its lines run, in their order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, Example, OutputChecker
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubeloop.cli.failures import ExitCode
from kubeloop.cli.program import kubeloop as program
from tests.following import Reader

from .test_program import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def blocks(pattern: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"^```{pattern}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def lines() -> Iterator[tuple[str, str]]:
    """Each command of the page, and what it prints."""
    for block in blocks("console"):
        for part in block[1].removeprefix("$ ").split("\n$ "):
            command, _, output = part.partition("\n")
            yield command, output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a reader stands who has started the shop, as the page says."""
    with Reader(tmp_path) as reader:
        reader.open_shop()
        monkeypatch.setenv("KUBECONFIG", reader.kubeconfig)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        yield tmp_path


@pytest.mark.timeout(120)  # a server starts in a process of its own
def test_the_lines_of_the_page_print_what_it_says(folder: Path) -> None:
    for block in blocks(r'\w+ title="(?P<name>[\w.]+)"'):
        (folder / block["name"]).write_text(block[2])

    for command, expected in lines():
        name, *arguments = shlex.split(command)
        result = CliRunner().invoke(program, arguments, prog_name="kubeloop")

        assert name == "kubeloop"
        assert same(expected, result.output), f"{command}\n{result.output}"


def same(expected: str, found: str) -> bool:
    """As the page has it, where `...` stands for anything."""
    wanted = Example("", expected).want
    return OutputChecker().check_output(wanted, found, ELLIPSIS | NORMALIZE_WHITESPACE)


@pytest.mark.parametrize("name", [*COMMANDS, "demo"])
def test_every_command_has_its_place_on_the_page(name: str) -> None:
    assert re.search(rf"kubeloop {name}\b", PAGE)


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_explained(code: ExitCode) -> None:
    assert f"\n| {code.value} | " in PAGE
