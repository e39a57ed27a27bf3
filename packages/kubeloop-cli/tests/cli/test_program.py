"""The top-level command: help, completion, and what it imports."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from kubeloop.kit import ManualClock
from kubeloop_cli.program import kubeloop as program
from kubeloop_cli.terminal import show_progress
from kubeloop_testing import APIServer, Match

from .conftest import SHOP, Call, on_terminal

COMMANDS = [name for name in program.list_commands(click.Context(program)) if name != "demo"]


def commands() -> dict[str, click.Command]:
    """Every command by its full name, without groups."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
        else:
            found[name] = command
    return found


@pytest.mark.parametrize("name", commands())
def test_the_help_of_every_command_has_examples_that_can_be_typed(
    kubeloop: Call, name: str
) -> None:
    text = kubeloop(*name.split(), "--help").stdout

    examples = [line.strip() for line in text.partition("Examples:")[2].splitlines()]
    assert [line for line in examples if line.startswith(("kubeloop", "source", "kubectl"))]


@pytest.mark.parametrize(("name", "command"), commands().items())
def test_every_flag_of_every_command_has_a_help_text(name: str, command: click.Command) -> None:
    options = [each for each in command.params if isinstance(each, click.Option)]

    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed_in_the_help(kubeloop: Call, name: str) -> None:
    assert f"\n  {name} " in kubeloop("--help").stdout


def test_the_help_lists_the_exit_codes(kubeloop: Call) -> None:
    text = kubeloop("--help").stdout

    assert "3    timed out waiting for a condition" in text
    assert "130  interrupted by Ctrl-C" in text


@pytest.mark.timeout(60)
def test_help_imports_no_client_and_no_rich() -> None:
    text = (
        "import sys; from kubeloop_cli import main\n"
        "sys.argv = ['kubeloop', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'aiohttp', 'asyncio', 'rich', 'yaml', 'kubeloop.errors'}\n"
        "sys.exit(str(sorted(heavy & sys.modules.keys())))"
    )

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)

    assert done.stderr == "[]\n"


GET_PODS = """
import gc, sys
from kubeloop_cli import main

sys.argv = ["kubeloop", "get", "pods", "-n", "shop"]
try:
    main()
except SystemExit as ended:
    print(*sys.modules, f"frozen={gc.get_freeze_count() > 1000}", file=sys.stderr)
    raise
"""
NOT_FOR_GET = {
    "aiohttp",
    "email.message",
    "fractions",
    "json",
    "kubeloop.blocking",
    "kubeloop.cache",
    "kubeloop_cli.watch",
    "kubeloop.clients.manifests",
    "kubeloop.clients.wait",
    "kubeloop.clients.writer",
    "kubeloop.config.exec_credentials",
    "kubeloop.config.writing",
    "kubeloop.discovery.files",
    "kubeloop.jsonpath",
    "kubeloop.patches",
    "kubeloop.runtime.manager",
    "kubeloop.selectors",
    "kubeloop_testing",
    "kubeloop.wire._generated.core_v1",
    "kubeloop.wire.manifests",
    "kubeloop.workqueue",
    "multidict",
    "rich",
    "tempfile",
    "yaml",
    "yarl",
}


@pytest.mark.timeout(60)
def test_get_in_a_pipe_loads_nothing_for_other_commands(environment: dict[str, str]) -> None:
    """Importing them would be most of its time: each takes milliseconds."""
    done = subprocess.run(
        [sys.executable, "-c", GET_PODS],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "web-1" in done.stdout
    assert NOT_FOR_GET & set(done.stderr.split()) == set()
    assert "frozen=True" in done.stderr, "the collector would scan all modules at the end"


# --- completion


def completions(*words: str) -> list[str]:
    *before, incomplete = words
    found = ShellComplete(program, {}, "kubeloop", "_KUBELOOP_COMPLETE")
    return [item.value for item in found.get_completions(list(before), incomplete)]


def test_commands_kinds_formats_and_contexts_are_completed(kubeloop: Call) -> None:
    assert completions("co") == ["cordon", "config", "completion"]
    assert completions("get", "statefuls") == ["statefulsets"]
    assert completions("get", "pods,statefuls") == ["pods,statefulsets"]
    assert completions("get", "pods", "-o", "js")[:2] == ["json", "jsonpath="]
    assert completions("get", "--context", "") == ["kubeloop"]
    assert completions("get", "pods", "w") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(kubeloop: Call, shell: str) -> None:
    result = kubeloop("completion", shell)

    assert result.exit_code == 0
    assert f"_KUBELOOP_COMPLETE={shell}_complete" in result.stdout


# --- progress


class Screen:
    """A stderr that reports to be a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


async def test_progress_is_shown_after_a_second_and_removed_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen, clock = Screen(), ManualClock()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")

    async with show_progress("counting", total=3, clock=clock) as progress:
        await clock.advance(0.9)
        assert screen.text == ""
        progress.advance()
        await clock.advance(0.1)
        assert "counting" in screen.text
        progress.advance()

    assert "2/3" in screen.text
    assert screen.text.endswith("\x1b[2K")


async def test_a_pipe_gets_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = ManualClock()

    async with show_progress("counting", clock=clock):
        await clock.advance(5)

    assert capsys.readouterr() == ("", "")


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
@pytest.mark.parametrize("piped", [False, True])
def test_output_during_progress_goes_to_stdout(
    kube_server: APIServer, environment: dict[str, str], piped: bool
) -> None:
    release = kube_server.faults.hold(Match(verb="get", resource="namespaces"))
    stdout = subprocess.PIPE if piped else None

    with on_terminal(environment, "apply", "-f", str(SHOP), stdout=stdout) as terminal:
        terminal.until(lambda seen: "applying" in seen and "0/4" in seen)
        release()
        seen = terminal.rest()
        output = terminal.process.stdout.read().decode() if terminal.process.stdout else seen

    assert terminal.process.returncode == 0
    assert "deployment.apps/web unchanged" in output
    assert ("unchanged" in seen) is not piped
