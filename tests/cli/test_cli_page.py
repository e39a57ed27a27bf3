"""The page about the command line says what really happens: its lines run, in their order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, Example, OutputChecker
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.cli.failures import ExitCode
from kubeloop.testing import APIServer

from .conftest import Call
from .test_program import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
READY = {"type": "Ready", "status": "True"}


def blocks(pattern: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"^```{pattern}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def lines() -> Iterator[tuple[str, str]]:
    """Each command of the page, and what it prints."""
    for block in blocks("console"):
        for part in block[1].removeprefix("$ ").split("\n$ "):
            command, _, output = part.partition("\n")
            yield command, output


@pytest.fixture
def shop(kube_server: APIServer, kube_blocking_client: Client) -> None:
    """What the page finds on the server: pods that run."""
    pods = kube_blocking_client.core_v1.pods("shop")
    for name in ("web-1", "web-2"):
        container = {"name": "web", "ready": True, "restartCount": 0, "image": "", "imageID": ""}
        status = {
            "phase": "Running",
            "podIP": "10.0.0.7",
            "conditions": [READY],
            "containerStatuses": [container | {"state": {"running": {}}}],
        }
        pods.status.patch(name, {"status": status}, type="merge")
    kube_server.set_log("shop", "web-2", "starting\nlistening\n")


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("shop")
def test_the_lines_of_the_page_print_what_it_says(kubeloop: Call, tmp_path: Path) -> None:
    for block in blocks(r'\w+ title="(?P<name>[\w.]+)"'):
        (tmp_path / block["name"]).write_text(block[2])

    for command, expected in lines():
        program, *arguments = shlex.split(command)
        result = kubeloop(*arguments)

        assert program == "kubeloop"
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
