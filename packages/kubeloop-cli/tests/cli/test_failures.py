"""Every error is one line, with an exit code that scripts can check."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kubeloop as kubeloop_package
from kubeloop.config import EmptyConfig
from kubeloop.errors import Cause, ResponseTooLarge, TransportError, api_error, failure
from kubeloop.wire.meta.v1 import StatusCause
from kubeloop_cli.failures import report
from kubeloop_testing import APIServer, StatusError

from .conftest import Call, command, line_of, started


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["frob"], 2, "No such command 'frob' (see kubeloop --help)"),
        (["gett", "pods"], 2, "No such command 'gett'; did you mean get?"),
        (["set", "image"], 2, "set is a command of kubectl, not of kubeloop (use kubectl set)"),
        (["top", "pods"], 2, "top is a command of kubectl, not of kubeloop (use kubectl top)"),
        (["--frob", "get"], 2, "No such option '--frob'"),
        (["get", "pods", "--frob"], 2, "(see kubeloop get --help)"),
        (["get"], 2, "Missing argument"),
        (["get", "pods", "-o", "xml"], 2, "is not one of table, wide, yaml"),
        (["get", "pods", "-o", "jsonpath={.a"], 2, "unclosed action"),
        (["get", "pods", "-l", "a in"], 2, "label selector 'a in'"),
        (["get", "pod/web", "pods"], 2, "expected KIND NAME…, or KIND/NAME"),
        (["get", "pods", "web", "-l", "a=b"], 2, "name and selector cannot be used together"),
        (["get", "pods,,svc"], 2, "pods,,svc: expected KIND NAME…"),
        (["get", ""], 2, "'': expected KIND NAME…"),
        (["get", "deploymets"], 1, "did you mean deployments?"),
        (["get", "pods", "missing"], 1, 'pods "missing" not found'),
        (["watch", "pods", "a", "b"], 2, "watch takes resource types, or one object"),
        (["apply", "-f", "nothing.yaml"], 2, "nothing.yaml: cannot read it"),
        (["logs", "missing"], 1, 'pods "missing" not found'),
        (["logs", "svc/kubernetes", "--since", "soon"], 2, "'soon' is not a duration"),
        (["wait", "pods", "--for", "delete"], 2, "no name was specified"),
        (
            ["wait", "pods", "web", "-l", "a=b", "--for", "delete"],
            2,
            "name cannot be provided when a selector is specified",
        ),
        (["cache", "report", "pods", "--field-selector", "a=b"], 1, "400 BadRequest"),
        (["wait", "pod/web", "--for", "luck"], 2, "'luck' is not one of condition=NAME"),
        (["--context", "elsewhere", "get", "pods"], 4, 'context "elsewhere" does not exist'),
        (["get", "pods", "--kubeconfig", "none"], 4, "none: no such file"),
        (["get", "pods", "--request-timeout", "soon"], 2, "'soon' is not a duration"),
        (["crd", "generate", "none"], 2, "no such file, and not the name of a CRD"),
        (["crd", "generate", "none.yaml"], 2, "none.yaml: cannot be read: No such file"),
        (["crd", "generate", "none.example.com"], 1, "not found"),
        (["crd", "show", "none:Website"], 2, "No module named 'none'"),
        (["crd", "show", "kubeloop:Client"], 2, "no subclass of Resource named Client"),
        (["crd", "show", "website"], 2, "expected MODULE:CLASS"),
        (["inspect", "999999999"], 1, "no inspector is running"),
        (["completion", "tcsh"], 2, "'tcsh' is not one of"),
        (["serve", "--port", "http"], 2, "'http' is not a valid integer"),
        (["serve", "--kubeconfig", "none/here"], 2, "write the kubeconfig to "),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    kubeloop: Call, arguments: list[str], code: int, text: str
) -> None:
    result = kubeloop(*arguments)

    assert result.exit_code == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert text in line


def test_an_unreachable_server_has_its_own_exit_code(kubeloop: Call, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "gone"
    kubeconfig.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: "
        "{server: 'http://127.0.0.1:1'}}], contexts: [{name: a, context: {cluster: a}}]}"
    )

    result = kubeloop("get", "pods", "--kubeconfig", str(kubeconfig))

    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert "127.0.0.1:1" in result.stderr


def test_without_configuration_the_error_shows_what_to_do(
    kubeloop: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))

    result = kubeloop("get", "pods")

    assert result.exit_code == 4
    assert "set KUBECONFIG" in result.stderr
    assert result.stderr.endswith("kubeloop serve --simulate\n")


def test_invalid_credentials_have_the_same_exit_code(
    kubeloop: Call, kube_server: APIServer
) -> None:
    status = {"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "who?"}
    kube_server.faults.refuse(StatusError(status), times=None)

    result = kubeloop("get", "pods")

    assert result.exit_code == 4
    assert "check the credentials" in result.stderr


def test_an_unexpected_exception_is_reported_as_a_bug(capsys: pytest.CaptureFixture[str]) -> None:
    code = report(ExceptionGroup("two", [ZeroDivisionError("by\nzero")]), verbose=False)

    assert code == 70
    assert capsys.readouterr().err == (
        "error: unexpected ZeroDivisionError: by zero"
        " (this is a bug: run again with -v and report it)\n"
    )


def test_a_traceback_is_shown_only_with_verbose(kubeloop: Call) -> None:
    assert "Traceback" not in kubeloop("get", "pods", "missing").stderr
    assert "Traceback" in kubeloop("-v", "get", "pods", "missing").stderr
    assert "Traceback" in kubeloop("get", "pods", "missing", "-v").stderr


# --- in separate processes

pytestmark = pytest.mark.timeout(60)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
def test_ctrl_c_exits_with_130_and_without_a_traceback(environment: dict[str, str]) -> None:
    with started(environment, "watch", "pods", "-n", "shop") as process:
        assert line_of(process).startswith("EVENT")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()

    assert process.returncode == 130
    assert errors.strip() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_a_closed_pipe_is_not_an_error(environment: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # before the first write: the buffer of the pipe would hold all of it

    done = subprocess.run(
        command("get", "all", "-A", "-o", "yaml"),
        env=environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )

    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams in another way there")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_not_an_error(environment: dict[str, str], closed: str) -> None:
    program = shlex.join([sys.executable, "-m", "kubeloop_cli", "get", "ns"])

    done = subprocess.run(["sh", "-c", f"{program} {closed}"], env=environment, check=False)

    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["get", "--help"], ["get", "ns"]])
def test_a_failing_write_to_stdout_is_one_line(
    environment: dict[str, str], arguments: list[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments),
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_ctrl_c_during_imports_shows_no_traceback() -> None:
    text = (
        "import builtins\n"
        "from kubeloop_cli import main\n"
        "real = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'program': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "main()"
    )

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (130, "")


def test_the_package_runs_as_the_command(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kubeloop_cli", "get", "ns", "shop", "-o", "name"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "namespace/shop\n", "")


# --- hints name flags instead of Python arguments

PYTHON = re.compile(r"\b[a-z_0-9]+=(True|False|None|\.\.\.|\)|$)|\b[a-z_]+\(\)")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            EmptyConfig(),
            (
                "no configuration has been provided (set KUBECONFIG, or run inside a pod, or pass"
                " --kubeconfig); to start a cluster here: kubeloop serve --simulate"
            ),
        ),
        (
            api_error(
                "PATCH pods/web",
                failure(
                    "Conflict",
                    "conflict",
                    causes=[StatusCause(reason=Cause.FIELD_MANAGER_CONFLICT.value)],
                ),
            ),
            (
                "PATCH pods/web: 409 Conflict: conflict (leave the field to its owner, or take"
                " ownership with --force-conflicts)"
            ),
        ),
        (
            ResponseTooLarge("GET pods: too large").with_hint("ask for less", python="raise it"),
            "GET pods: too large (ask for less)",
        ),
        (TransportError("GET x: no").with_hint(python="say so=True"), "GET x: no"),
    ],
    ids=["no configuration", "ownership", "limit", "only for programs"],
)
def test_hints_name_flags_and_not_python_arguments(
    error: Exception, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report(error, verbose=False)

    assert capsys.readouterr().err == f"error: {line}\n"


def test_the_hint_for_missing_credentials_names_no_python_argument(
    kubeloop: Call, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "missing"
    kubeconfig.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: "
        "{server: 'https://127.0.0.1:1'}}], contexts: [{name: a, context: {cluster: a}}]}"
    )

    result = kubeloop("get", "pods", "--kubeconfig", str(kubeconfig))

    assert result.exit_code == 4
    assert "(configure a token, a certificate or a plugin)" in result.stderr


def test_no_error_that_can_reach_the_command_line_names_python_arguments_in_its_text() -> None:
    """Such hints belong into `python_hint`, which commands do not print."""
    folder = Path(inspect.getfile(kubeloop_package)).parent
    found = [
        f"{path.relative_to(folder)}:{raised.lineno}: {text}"
        for package in (
            "config",
            "rest",
            "discovery",
            "clients",
            "errors",
            "meta",
            "selectors",
            "patches",
            "jsonpath",
            "crd",
        )
        for path in sorted(Path(folder, package).rglob("*.py"))
        for raised in ast.walk(ast.parse(path.read_text()))
        if isinstance(raised, ast.Raise)
        for text in _texts(raised)
        if PYTHON.search(text)
    ]

    assert found == []


def _texts(node: ast.AST) -> Iterator[str]:
    """The strings in a statement, without those for Python programs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword) and child.arg == "python":
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and " " in child.value:
            yield child.value
        yield from _texts(child)
