"""The small shell of containers with files."""

from __future__ import annotations

import pytest

from kubeloop_testing import FileTree, Process
from kubeloop_testing.server.kubelet.processes import table_program
from kubeloop_testing.server.kubelet.programs import ContainerMatch, Programs


async def run(*command: str, stdin: bytes = b"", tty: bool = False) -> tuple[int, str, str]:
    """The exit code and the output of a command in a container with the file `/etc/motd`."""
    programs = Programs()
    programs.add_files(ContainerMatch(), FileTree({"/etc/motd": "hi\n"}))
    programs.add_command(("fail",), ContainerMatch(), table_program("", "no\n", 3))

    async def echo(process: Process) -> None:
        await process.stdout.write(f"{' '.join(process.command[1:])}\n")

    programs.add_command(("echo",), ContainerMatch(), echo)
    output: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    async def write_stdout(data: bytes) -> None:
        output["stdout"] += data

    async def write_stderr(data: bytes) -> None:
        output["stderr"] += data

    process = Process(
        command,
        namespace="shop",
        pod="web",
        container="app",
        tty=tty,
        stdout=write_stdout,
        stderr=write_stderr,
    )
    process.stdin.feed_data(stdin)
    process.feed_eof()
    program = programs.command(command, "shop", "web", "app")
    assert program is not None
    return await program(process) or 0, output["stdout"].decode(), output["stderr"].decode()


@pytest.mark.parametrize(
    ("script", "code", "stdout"),
    [
        ("echo a  b", 0, "a b\n"),
        ("test -f /etc/motd && cat /etc/motd || echo none", 0, "hi\n"),
        ("test -f /missing && cat /etc/motd || echo none", 0, "none\n"),
        ("fail; echo after", 0, "after\n"),
        ("echo one\n\necho two &&\n echo three;", 0, "one\ntwo\nthree\n"),
        ("""echo 'a;b && $c' "d|\\"e\\"" f\\;g '&&'""", 0, 'a;b && $c d|"e" f;g &&\n'),
        ("echo ''", 0, "\n"),
        ("true && fail", 3, ""),
        ("false || exit 7; echo no", 7, ""),
        ("fail; exit", 3, ""),
        ("sh -c 'echo inner; exit 4'", 4, "inner\n"),
        ("", 0, ""),
    ],
)
async def test_the_commands_of_the_container_run(script: str, code: int, stdout: str) -> None:
    assert (await run("/bin/sh", "-c", script))[:2] == (code, stdout)


async def test_commands_come_from_the_input_too() -> None:
    assert await run("sh", stdin=b"echo one\nexit 5\n") == (5, "one\n", "")


async def test_a_command_that_the_container_does_not_have_is_not_found() -> None:
    assert await run("sh", "-c", "curl x; echo on") == (0, "on\n", "sh: 1: curl: not found\n")
    assert (await run("sh", "-c", "curl x"))[0] == 127


@pytest.mark.parametrize(
    "script",
    [
        *("echo a | cat", "echo $HOME", "echo `date`", "echo *", "cat < a", "echo > a", "sleep 1 &"),
        *("(ls)", "a=b", "for x in y; do ls; done", "if true; then ls; fi", 'echo "$x"', "echo 'a"),
        *("&& ls", "cd /"),
    ],
)  # fmt: skip
async def test_what_is_not_supported_is_an_error_before_anything_runs(script: str) -> None:
    code, stdout, stderr = await run("sh", "-c", f"echo first; {script}")

    assert (code, stdout) == (2, "")
    assert stderr.startswith("sh: the simulated shell supports no `")


@pytest.mark.parametrize("command", [["sh", "-x"], ["sh", "script.sh"], ["sh", "-c"]])
async def test_other_options_are_an_error(command: list[str]) -> None:
    assert (await run(*command))[0] == 2


async def test_a_terminal_is_not_supported() -> None:
    code, output, _ = await run("sh", tty=True)

    assert (code, "only `sh -c COMMANDS`" in output) == (2, True)
