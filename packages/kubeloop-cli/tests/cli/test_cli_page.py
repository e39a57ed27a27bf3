"""The commands on the page about the command line print what the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, Example, OutputChecker
from pathlib import Path

import pytest

from kubeloop_cli.failures import ExitCode
from tests.support.page_reader import Reader, installed_by

from .test_program import COMMANDS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "how-to" / "cli.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


# Each part is read with a new server, up to the heading of the next one.
PARTS = ("Use it in scripts", "Apply manifests", "Scale and roll out", "Print logs")


def text_of(part: str) -> str:
    texts = re.split(rf"^## (?:{'|'.join(PARTS)})$", PAGE, flags=re.MULTILINE)
    assert len(texts) == len(PARTS) + 1
    return texts[PARTS.index(part) + 1]


def lines(part: str) -> Iterator[tuple[str, str]]:
    """Each command of a part, and its output."""
    for block in re.finditer(r"^```console\n(.*?)^```", text_of(part), re.DOTALL | re.MULTILINE):
        for entry in block[1].removeprefix("$ ").split("\n$ "):
            command, _, output = entry.partition("\n")
            yield command, output


@pytest.mark.timeout(120)  # many processes, one after the other
@pytest.mark.parametrize("part", PARTS)
def test_the_commands_of_the_page_print_what_it_shows(part: str, tmp_path: Path) -> None:
    with Reader(tmp_path, installed=installed_by("docs/how-to/cli.md")) as reader:
        reader.open_shop()
        reader.write_files("docs/how-to/cli.md")

        for command, expected in lines(part):
            output = reader.output_of(command)

            assert same(expected, output), f"{command}\n{output}"


def same(expected: str, found: str) -> bool:
    """Whether the output is as on the page, where `...` stands for any text."""
    pattern = Example("", expected).want
    return OutputChecker().check_output(pattern, found, ELLIPSIS | NORMALIZE_WHITESPACE)


@pytest.mark.parametrize("name", [*COMMANDS, "demo"])
def test_every_command_is_on_the_page(name: str) -> None:
    assert re.search(rf"kubeloop {name}\b", PAGE)


def test_the_table_of_commands_lists_those_of_the_help() -> None:
    rows = re.findall(r"^\| \[(`.*?)\]\(#", PAGE, re.MULTILINE)
    names = {name.split()[0] for row in rows for name in re.findall(r"`([^`]+)`", row)}

    assert names == {*COMMANDS, "demo"}


def test_the_readme_counts_the_commands() -> None:
    (row,) = re.findall(r"^.*`kubeloop get`.*$", README, re.MULTILINE)
    named = re.findall(r"`(?:kubeloop )?([a-z-]+)`", row)
    (others,) = re.findall(r"and (\d+) more commands", row)

    assert {*named} < {*COMMANDS}
    assert len(named) + int(others) == len({*COMMANDS, "demo"})


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_explained(code: ExitCode) -> None:
    assert f"\n| {code.value} | " in PAGE
