"""The protocol of programs in containers, on a WebSocket in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import (
    DecodeError,
    InternalError,
    InvalidArgument,
    ResponseTooLarge,
    StreamBroken,
    TimeoutExceeded,
)
from kubeloop.kit import TaskOwner
from kubeloop.streams import NonZeroExitCode, Process, RemoteCommand, UnsupportedByServer
from kubeloop.streams.channels import ChannelMessage, parse_message, read_exit_code

from .fake_socket import FakeSocket

SUCCESS = b'\x03{"metadata":{},"status":"Success"}'


def failure(reason: str, **fields: object) -> bytes:
    return b"\x03" + msgspec.json.encode({"status": "Failure", "reason": reason, **fields})


def exit_status(text: object) -> bytes:
    cause = {"reason": "ExitCode", "message": text}
    return failure("NonZeroExitCode", message="failed", details={"causes": [cause]})


def process_on(socket: FakeSocket, *, stdin: bool = True, tty: bool = False) -> Process:
    return Process(socket, "exec sh in web", stdin=stdin, stderr=not tty, tty=tty)


def command_on(
    socket: FakeSocket,
    *,
    stdin: bool | bytes | str = False,
    check: bool = False,
    max_output: int = 1000,
) -> RemoteCommand:
    async def opener() -> Process:
        return process_on(socket, stdin=stdin is not False)

    return RemoteCommand(opener, stdin=stdin, check=check, max_output=max_output)


# --- messages


@given(st.integers(0, 254), st.binary())
def test_a_message_is_a_channel_byte_and_a_payload(channel: int, data: bytes) -> None:
    """WTC-14, WTC-20: an empty payload is fine."""
    assert parse_message(bytes((channel,)) + data) == ChannelMessage(channel, data, is_end=False)


@pytest.mark.parametrize("message", ["text", b"", b"\xff", b"\xff\x01\x02"])
async def test_a_message_without_a_channel_is_an_error(message: bytes | str) -> None:
    """WTC-20"""
    socket = FakeSocket()
    socket.serve(message)

    with pytest.raises(DecodeError, match="exec sh in web: received"):
        await process_on(socket).wait()
    assert socket.state == "aborted"


async def test_a_message_of_an_unknown_channel_is_skipped() -> None:
    """WTC-20"""
    socket = FakeSocket()
    socket.serve(b"\x09what", b"\x01out", SUCCESS)
    socket.finish()

    assert (await command_on(socket)).stdout == b"out"


# --- the end


async def test_no_status_or_success_is_exit_code_zero() -> None:
    """WTC-18"""
    assert read_exit_code("exec", b"") == 0
    assert read_exit_code("exec", SUCCESS[1:]) == 0


async def test_the_exit_code_is_in_the_cause_of_the_status() -> None:
    """WTC-18, WTC-C8"""
    socket = FakeSocket()
    socket.serve(b"\x01out", b"\x02err", exit_status("3"))
    socket.finish()

    result = await command_on(socket)

    assert (result.stdout, result.stderr, result.exit_code) == (b"out", b"err", 3)


@pytest.mark.parametrize(
    "message",
    [
        exit_status("many"),
        exit_status("256"),
        exit_status("-1"),
        failure("NonZeroExitCode"),
        b"\x03not a status",
        b'\x03{"status":"Maybe"}',
    ],
)
def test_a_status_without_a_valid_exit_code_is_an_error(message: bytes) -> None:
    """WTC-18"""
    with pytest.raises(DecodeError, match="exec"):
        read_exit_code("exec sh in web", message[1:])


def test_a_program_that_was_not_started_is_the_error_of_the_server() -> None:
    """WTC-18"""
    status = failure("InternalError", code=500, message="no such file")[1:]

    with pytest.raises(InternalError, match="exec sh in web: 500 InternalError: no such file"):
        read_exit_code("exec sh in web", status)


async def test_check_raises_with_the_output() -> None:
    socket = FakeSocket()
    socket.serve(b"\x01half", b"\x02cannot \x1b[2J", exit_status("2"))
    socket.finish()

    with pytest.raises(NonZeroExitCode) as caught:
        await command_on(socket, check=True)

    assert str(caught.value) == "exec sh in web: exit code 2: cannot \\x1b[2J"
    assert (caught.value.exit_code, caught.value.result.stdout) == (2, b"half")


async def test_another_close_code_than_normal_fails_every_reader() -> None:
    """WTC-20"""
    socket = FakeSocket()
    socket.serve(b"\x01partial")
    socket.finish(1011, "kubelet gone")
    process = process_on(socket)

    with pytest.raises(StreamBroken, match="code 1011 'kubelet gone', after 7 bytes of output"):
        await process.stdout.read()
    with pytest.raises(StreamBroken):
        await process.stderr.read()
    with pytest.raises(StreamBroken):
        await process.wait()


async def test_a_lost_connection_says_how_much_was_received() -> None:
    """WTC-20, WTC-C12"""
    socket = FakeSocket()
    socket.serve(b"\x01" + bytes(1000))
    socket.break_with(TimeoutExceeded("exec: nothing was received for 61 s"))

    with pytest.raises(TimeoutExceeded, match=r"lost after 1000 bytes .* for 61 s"):
        await command_on(socket, max_output=5000)


async def test_more_output_than_the_limit_is_an_error() -> None:
    socket = FakeSocket()
    socket.serve(b"\x01" + bytes(600), b"\x02" + bytes(600))

    with pytest.raises(ResponseTooLarge, match=r"larger than 1000 bytes .*max_output"):
        await command_on(socket)
    assert socket.state == "aborted"


# --- input


async def test_the_end_of_input_is_a_close_message() -> None:
    """WTC-15, WTC-C10"""
    socket = FakeSocket()
    process = process_on(socket)

    await process.stdin.write("ls\n")
    await process.stdin.close()
    await process.stdin.close()

    assert socket.sent == [b"\0ls\n", b"\xff\0"]
    with pytest.raises(InvalidArgument, match="stdin is closed"):
        await process.stdin.write(b"more")


async def test_v4_cannot_end_the_input_and_says_so() -> None:
    """WTC-15"""
    socket = FakeSocket("v4.channel.k8s.io")

    with pytest.raises(UnsupportedByServer, match="stdin cannot be closed: the server speaks only"):
        await process_on(socket).stdin.close()
    with pytest.raises(UnsupportedByServer):
        await command_on(socket, stdin=b"input")
    assert socket.state == "aborted"


async def test_input_of_an_awaited_command_is_written_and_ended() -> None:
    socket = FakeSocket()
    command = asyncio.ensure_future(command_on(socket, stdin=b"x" * 40_000))
    while len(socket.sent) < 3:
        await asyncio.sleep(0)
    socket.serve(SUCCESS)
    socket.finish()

    assert (await command).exit_code == 0
    assert b"".join(each[1:] for each in socket.sent[:2]) == b"x" * 40_000  # type: ignore[misc] # bytes
    assert socket.sent[2] == b"\xff\0"


async def test_awaiting_a_command_that_waits_for_input_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="nothing would write its input"):
        await command_on(FakeSocket(), stdin=True)
    with pytest.raises(InvalidArgument, match=r"no stdin \(open it with stdin=True\)"):
        _ = process_on(FakeSocket(), stdin=False).stdin


async def test_a_terminal_reports_its_size() -> None:
    """WTC-17"""
    socket = FakeSocket()

    await process_on(socket, tty=True).resize(80, 24)

    assert socket.sent == [b'\x04{"Width":80,"Height":24}']
    with pytest.raises(InvalidArgument, match="no terminal"):
        await process_on(socket).resize(80, 24)


async def test_a_terminal_has_no_stderr() -> None:
    """WTC-C9"""
    assert await process_on(FakeSocket(), tty=True).stderr.read() == b""


# --- reading


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))), st.data()
)
async def test_lines_survive_any_cut_of_the_bytes(lines: list[str], data: st.DataObject) -> None:
    whole = "".join(f"{line}\n" for line in lines).encode()
    socket, at = FakeSocket(), 0
    while at < len(whole):
        size = data.draw(st.integers(1, 5))
        socket.serve(b"\x01" + whole[at : at + size])
        at += size
    socket.finish()

    assert [line async for line in process_on(socket).stdout.lines()] == lines


async def test_a_line_of_ten_megabytes_is_one_line() -> None:
    socket = FakeSocket()
    socket.serve(*[b"\x01" + b"x" * 32_000] * 320, b"\x01\nend")
    socket.finish()

    assert [len(line) async for line in process_on(socket).stdout.lines()] == [10_240_000, 3]


async def test_both_streams_can_be_read_by_two_tasks() -> None:
    socket = FakeSocket()
    process = process_on(socket)
    found: dict[str, bytes] = {}

    async def read(name: str, reader: Callable[[], Awaitable[bytes]]) -> None:
        found[name] = await reader()

    async with TaskOwner() as tasks:
        both = [
            tasks.spawn(read("out", process.stdout.read), name="out"),
            tasks.spawn(read("err", process.stderr.read), name="err"),
        ]
        for _ in range(100):
            socket.serve(b"\x01o", b"\x02e")
        socket.serve(SUCCESS)
        socket.finish()
        await asyncio.gather(*both)

        assert await process.wait() == 0
    assert found == {"out": b"o" * 100, "err": b"e" * 100}


async def test_a_channel_that_the_server_closed_is_at_its_end() -> None:
    socket = FakeSocket()
    socket.serve(b"\x01done", b"\xff\x01")

    assert await process_on(socket).stdout.read() == b"done"


async def test_unread_output_is_bounded_and_reported() -> None:
    socket = FakeSocket()
    socket.serve(*[b"\x02" + bytes(200_000)] * 10)
    process = process_on(socket)

    with pytest.raises(InvalidArgument, match="bytes of stderr were not read"):
        await process.stdout.read()
    assert socket.received <= 6


async def test_a_slow_reader_stops_the_others_until_it_reads() -> None:
    socket = FakeSocket()
    socket.serve(*[b"\x02" + bytes(200_000)] * 10)
    process = process_on(socket)
    await anext(process.stderr)
    async with TaskOwner() as tasks:
        waiting = tasks.spawn(_wait_for(process), name="wait")
        for _ in range(50):
            await asyncio.sleep(0)
        assert socket.received <= 7

        socket.serve(SUCCESS)
        socket.finish()
        assert len(await process.stderr.read()) == 1_800_000
        await waiting


async def _wait_for(process: Process) -> None:
    assert await process.wait() == 0


async def test_waiting_drops_output_that_was_never_read() -> None:
    socket = FakeSocket()
    socket.serve(*[b"\x01" + bytes(200_000)] * 20, SUCCESS)
    socket.finish()

    assert await process_on(socket).wait() == 0


# --- the block


async def test_leaving_the_block_closes_the_connection() -> None:
    """WTC-21: a cancelled call closes it at once."""
    normal, cancelled = FakeSocket(), FakeSocket()
    async with command_on(normal) as process:
        pass
    task = asyncio.ensure_future(command_on(cancelled))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (normal.state, cancelled.state) == ("closed", "aborted")
    with pytest.raises(StreamBroken, match="the block of the process has ended"):
        await process.stdout.read()


async def test_a_command_that_is_not_used_warns() -> None:
    with pytest.warns(RuntimeWarning, match="neither awaited nor entered"):
        command_on(FakeSocket()).__del__()


async def test_a_command_is_for_one_use() -> None:
    command = command_on(FakeSocket())
    async with command:
        with pytest.raises(InvalidArgument, match="running already"):
            await command.__aenter__()
