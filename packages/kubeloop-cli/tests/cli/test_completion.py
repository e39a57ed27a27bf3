"""Completion: what is suggested, and the real shells.

A shell that is not installed is not tested; `bash` is on every machine that runs these tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from kubeloop_cli.completion import register_shells
from kubeloop_cli.program import kubeloop as program
from kubeloop_testing import APIServer, Match
from tests.cli.conftest import Terminal

from .conftest import Call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such shells there")


def completions(*words: str) -> list[str]:
    *before, incomplete = words
    found = ShellComplete(program, {}, "kubeloop", "_KUBELOOP_COMPLETE")
    return [item.value for item in found.get_completions(list(before), incomplete)]


@pytest.mark.usefixtures("kubeloop")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["des"], ["describe"]),
        (["get", "--show-l"], ["--show-labels"]),
        (["get", "deploym"], ["deployments"]),
        (["get", "pods,deploym"], ["pods,deployments"]),
        (["get", "pods", "-n", "shop", "web"], ["web-1", "web-2"]),
        (["get", "pods", "-n", "shop", "web-1", ""], ["web-2"]),
        (["-n", "shop", "describe", "pod/web"], ["pod/web-1", "pod/web-2"]),
        (["get", "pods", "-n", "sh"], ["shop"]),
        (["logs", "-n", "shop", "web"], ["web-1", "web-2"]),
        (["logs", "-n", "shop", "deploy/"], ["deploy/web"]),
        (["logs", "-n", "shop", "web-1", "-c", ""], ["web"]),
        (["exec", "-n", "shop", "web-1", "-c", "w"], ["web"]),
        (["cp", "-n", "shop", "web-1:/a", "b", "-c", ""], ["web"]),
        (["events", "-n", "shop", "--for", "pod/web-1"], ["pod/web-1"]),
        (["explain", "deploym"], ["deployments"]),
        (["get", "--context", ""], ["kubeloop"]),
        (["get", "nothing", "w"], []),
        (["logs", "-n", "shop", "gone", "-c", ""], []),
    ],
)
def test_values_are_those_of_the_cluster(words: list[str], expected: list[str]) -> None:
    assert completions(*words) == expected


@pytest.mark.parametrize("words", [["get", "pods", "w"], ["get", "-n", ""], ["logs", ""]])
def test_without_a_cluster_nothing_is_suggested_and_nothing_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")

    assert completions(*words) == []
    assert capfd.readouterr() == ("", "")


def test_without_a_cluster_built_in_types_are_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")

    assert completions("get", "statefuls") == ["statefulsets"]


@pytest.mark.usefixtures("kubeloop")
def test_a_server_that_does_not_respond_is_not_waited_for(
    kube_server: APIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = kube_server.faults.hold(Match(verb="list", resource="pods"))
    monkeypatch.setattr("kubeloop_cli.completion._PATIENCE", 0.2)

    assert completions("get", "pods", "w") == []
    release()


# --- shells


@pytest.fixture
def home(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """The environment of a shell that finds `kubeloop`, without the files of the user."""
    program_file = tmp_path / "bin" / "kubeloop"
    program_file.parent.mkdir()
    program_file.write_text(
        f"#!{sys.executable}\nfrom kubeloop_cli import main\nmain()\n", encoding="utf-8"
    )
    program_file.chmod(0o755)
    path = f"{program_file.parent}{os.pathsep}{os.environ['PATH']}"
    return environment | {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "PATH": path}


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def output(command: Sequence[str], environment: dict[str, str]) -> list[str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


CASES = {
    "des": ["describe"],
    "get --show-l": ["--show-labels"],
    "get statefuls": ["statefulsets"],
    "get pods -n shop web": ["web-1", "web-2"],
    "get -n sh": ["shop"],
    "logs -n shop web-1 -c ''": ["web"],
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", [*CASES, "get --namespace = sh"])
def test_bash_completes(home: dict[str, str], line: str) -> None:
    words = ["kubeloop", *shlex.split(line)]
    script = (
        "source <(kubeloop completion bash)\n"
        f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}\n"
        f"_kubeloop_completion kubeloop {shlex.quote(words[-1])}\n"
        'echo "${COMPREPLY[@]}"'
    )

    found = output([shell("bash"), "--norc", "-c", script], home)

    assert found == CASES.get(line, ["shop"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", CASES)
def test_fish_completes(home: dict[str, str], line: str) -> None:
    typed = f"kubeloop {line}".removesuffix("''")
    script = f"kubeloop completion fish | source; complete -C {shlex.quote(typed)}"

    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", script],
        env=home, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert [each.partition("\t")[0] for each in done.stdout.splitlines()] == CASES[line]
    assert done.stderr == ""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", CASES)
def test_zsh_completes(home: dict[str, str], tmp_path: Path, line: str) -> None:
    """zsh completes only on a terminal: the keys are typed into one."""
    pty = pytest.importorskip("pty")
    (tmp_path / ".zshrc").write_text(
        "PS1='ready> '\nautoload -U compinit && compinit -u -D\n"
        "setopt no_always_last_prompt\nunsetopt zle_bracketed_paste 2> /dev/null\n"
        "source <(kubeloop completion zsh)\n"
    )
    program_file = shell("zsh")
    master, slave = pty.openpty()
    with subprocess.Popen(
        [program_file, "-i"],
        env=home | {"TERM": "dumb", "COLUMNS": "200"},
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(slave)
        try:
            terminal = Terminal(process, master)
            terminal.until(lambda seen: "ready> " in seen)
            terminal.forget()
            typed = f"kubeloop {line}".removesuffix("''")
            terminal.write(typed.encode() + b"\t\t")
            *_, word = typed.rpartition(" ")
            expected = [name.removeprefix(word) for name in CASES[line]]
            seen = terminal.until(
                lambda seen: all(name in seen.partition(typed)[2] for name in expected)
            )
        finally:
            process.kill()
            os.close(master)

    assert "error" not in seen.lower()


def test_the_scripts_of_the_shells_are_those_that_click_knows(kubeloop: Call) -> None:
    register_shells()

    for name in ("bash", "zsh", "fish"):
        assert f"_KUBELOOP_COMPLETE={name}_complete" in kubeloop("completion", name).stdout
