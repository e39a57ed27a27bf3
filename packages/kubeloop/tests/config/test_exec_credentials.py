"""Exec plugins: when they run, how often, and the effect of failures."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubeloop.config import (
    ClusterConfig,
    ExecConfig,
    ExecCredentials,
    ExecEnv,
    ExecPolicy,
    Identity,
    PluginDenied,
    PluginError,
    PluginNotFound,
    open_credentials,
)
from kubeloop.config.exec_credentials import run_program
from kubeloop.kit import ManualClock, SystemClock

from .conftest import Issued, Plugin

Runs = Callable[[], int]

posix_only = pytest.mark.skipif(os.name != "posix", reason="forks and reads named pipes")


async def test_a_plugin_runs_once_until_the_server_rejects_its_credentials(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-8: without an expiry they never expire."""
    credentials = ExecCredentials(plugin("answer(token=f't{run}')"), clock=clock)

    first = await credentials.identity()
    await clock.advance(10**7)

    assert first.authorization == "Bearer t1"
    assert await credentials.identity() is first
    assert runs() == 1


async def test_a_plugin_is_run_again_before_its_credentials_end(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-8, CFG-C18: so that no 401 occurs."""
    credentials = ExecCredentials(
        plugin("answer(token=f't{run}', expirationTimestamp=f'2030-01-01T0{run}:00:00Z')"),
        clock=clock,
    )
    await credentials.identity()

    await clock.advance(3589)
    assert (await credentials.identity()).authorization == "Bearer t1"
    await clock.advance(1)
    assert (await credentials.identity()).authorization == "Bearer t2"
    assert runs() == 2


async def test_short_lived_credentials_are_not_refreshed_with_every_request(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-8: `expirationTimestamp` (RFC 3339)."""
    credentials = ExecCredentials(
        plugin("answer(token='t', expirationTimestamp='2030-01-01T00:00:05Z')"), clock=clock
    )

    for _ in range(3):
        await credentials.identity()
        await clock.advance(1)

    assert runs() == 1


async def test_a_failed_refresh_takes_nothing_away_that_is_good(
    plugin: Plugin, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """EXE-8: `expirationTimestamp` (RFC 3339)."""
    credentials = ExecCredentials(
        plugin(
            """
            if run > 1: sys.exit(3)
            answer(token='t', expirationTimestamp='2030-01-01T01:00:00Z')
            """
        ),
        clock=clock,
    )
    first = await credentials.identity()

    await clock.advance(3595)
    assert await credentials.identity() is first
    assert "refresh failed" in caplog.text
    await clock.advance(6)
    with pytest.raises(PluginError, match="exit code 3"):
        await credentials.identity()


async def test_after_a_rejection_the_next_request_has_new_credentials(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-9, CFG-C17: 401 refreshes the credentials of a plugin."""
    credentials = ExecCredentials(plugin("answer(token=f't{run}')"), clock=clock)
    used = await credentials.identity()

    await credentials.refresh(used)

    assert runs() == 2
    assert (await credentials.identity()).authorization == "Bearer t2"
    await credentials.refresh(used)
    assert runs() == 2


async def test_thirty_rejections_run_the_plugin_once(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """CFG-C20, EXE-9: concurrent refreshes share one run of the plugin."""
    credentials = ExecCredentials(plugin("answer(token=f't{run}')"), clock=clock)
    first = await asyncio.gather(*(credentials.identity() for _ in range(30)))
    assert runs() == 1

    await asyncio.gather(*(credentials.refresh(identity) for identity in first))

    assert runs() == 2
    assert {i.authorization for i in await asyncio.gather(credentials.identity())} == {"Bearer t2"}


async def test_a_refresh_that_fails_after_a_rejection_is_loud_at_the_next_request(
    plugin: Plugin, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Refused credentials are an error, never an anonymous request."""
    credentials = ExecCredentials(
        plugin("sys.exit(4) if run > 1 else answer(token='t')"), clock=clock
    )
    used = await credentials.identity()

    await credentials.refresh(used)

    assert "the server rejected the credentials, and the plugin failed" in caplog.text
    with pytest.raises(PluginError, match="exit code 4"):
        await credentials.identity()


async def test_a_new_certificate_is_a_new_identity(
    plugin: Plugin, tmp_path: Path, issued: Issued, reissued: Issued, clock: ManualClock
) -> None:
    """EXE-10, EXE-13: the transport gets another certificate."""
    for number, each in enumerate((issued, reissued), start=1):
        (tmp_path / f"{number}.crt").write_bytes(each.certificate)
        (tmp_path / f"{number}.key").write_bytes(each.key)
    config = plugin(
        f"""
        def read(end): return open({str(tmp_path)!r} + f'/{{run}}.{{end}}').read()
        answer(clientCertificateData=read('crt'), clientKeyData=read('key'))
        """
    )
    credentials = ExecCredentials(config, clock=clock)
    old = await credentials.identity()
    await clock.advance(60)

    await credentials.refresh(old)
    new = await credentials.identity()

    assert old.authorization == ""
    assert old.certificate is not None
    assert new.certificate is not None
    assert old.certificate != new.certificate
    stats = credentials.stats()
    assert stats.rotation_age == 60
    assert stats.expires == reissued.x509.not_valid_after_utc
    assert stats.calls == {(0, "no_error"): 2}


async def test_stats_name_the_earlier_of_the_two_ends(plugin: Plugin, clock: ManualClock) -> None:
    """EXE-13: Metrics: `rest_client_exec_plugin_call_total`."""
    credentials = ExecCredentials(
        plugin("answer(token='t', expirationTimestamp='2030-01-01T01:00:00Z')"), clock=clock
    )
    assert credentials.stats().expires is None

    await credentials.identity()

    assert credentials.stats().expires == clock.time() + timedelta(hours=1)


async def test_a_plugin_gets_its_arguments_variables_and_exec_info(
    plugin: Plugin, clock: ManualClock
) -> None:
    """EXE-4, EXE-5: and no standard input, and no shell."""
    config = plugin(
        """
        received = [sys.argv[1:], os.environ['A'], os.environ['OURS'], info['spec'], sys.stdin.read()]
        answer(token=json.dumps(received, separators=(',', ':')))
        """,
        env=(ExecEnv(name="A", value="$HOME"),),
    )
    config = msgspec.structs.replace(config, args=(*config.args, "a;b", "$HOME"))
    credentials = ExecCredentials(config, clock=clock, environ={**os.environ, "OURS": "1"})

    identity = await credentials.identity()

    assert identity.authorization == (
        'Bearer [["a;b","$HOME"],"$HOME","1",{"interactive":false},""]'
    )


async def test_a_plugin_that_is_not_installed_says_how_to_get_it(
    clock: ManualClock, tmp_path: Path
) -> None:
    """EXE-11: the error has the install hint of the kubeconfig."""
    config = ExecConfig(
        command="kubeloop-no-such-plugin",
        api_version="client.authentication.k8s.io/v1",
        interactive_mode="Never",
        install_hint="brew install it\x1b[0m",
    )
    credentials = ExecCredentials(config, clock=clock, environ={"PATH": str(tmp_path)})

    with pytest.raises(PluginNotFound, match=r"no such program in PATH") as caught:
        await credentials.identity()

    assert r"brew install it\x1b[0m" in str(caught.value)
    assert "client-go-credential-plugins" in str(caught.value)
    assert credentials.stats().calls == {(1, "plugin_not_found_error"): 1}


async def test_the_install_hint_is_shown_ten_times_an_hour(clock: ManualClock) -> None:
    """EXE-11: binary not found: error text plus a help text and the install hint."""
    config = ExecConfig(
        command="kubeloop-no-such-plugin",
        api_version="client.authentication.k8s.io/v1",
        interactive_mode="Never",
        install_hint="brew install it",
    )
    credentials = ExecCredentials(config, clock=clock)

    async def hinted() -> bool:
        with pytest.raises(PluginNotFound) as caught:
            await credentials.identity()
        return "brew" in str(caught.value)

    assert [await hinted() for _ in range(12)] == [True] * 10 + [False] * 2
    await clock.advance(3600)
    assert await hinted()


async def test_a_plugin_that_fails_is_an_error_with_its_code_and_its_complaint(
    plugin: Plugin, clock: ManualClock
) -> None:
    """EXE-11: without the secrets that it was given."""
    config = plugin(
        "sys.stderr.write('no luck\\x1b with ' + os.environ['A'] + sys.argv[1]); sys.exit(7)",
        env=(ExecEnv(name="A", value="s3cret-env"),),
    )
    config = msgspec.structs.replace(config, args=(*config.args, "--client-secret=s3cret-arg"))
    credentials = ExecCredentials(config, clock=clock)

    with pytest.raises(PluginError, match=r"exit code 7: no luck\\x1b with <masked>") as caught:
        await credentials.identity()

    assert "s3cret" not in str(caught.value)
    assert credentials.stats().calls == {(7, "plugin_execution_error"): 1}


async def test_a_long_complaint_is_cut_to_its_end(plugin: Plugin, clock: ManualClock) -> None:
    config = plugin("sys.stderr.write('x' * 300_000 + 'the point'); sys.exit(1)")

    with pytest.raises(PluginError, match="the point") as caught:
        await ExecCredentials(config, clock=clock).identity()

    assert len(str(caught.value)) < 5000


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('s3cret rubbish')", "not JSON"),
        ("pass", "printed nothing"),
        ("sys.stdout.write('s3cret' * 1_000_000)", "more than 1 MiB"),
        ("answer(token='')", "neither a token nor a certificate"),
        (
            "info['apiVersion'] = 'client.authentication.k8s.io/v1beta1'; answer(token='t')",
            "v1beta1",
        ),
    ],
)
async def test_a_plugin_with_invalid_output_is_an_error(
    plugin: Plugin, clock: ManualClock, body: str, message: str
) -> None:
    """EXE-7, CFG-C19: output must be an ExecCredential of exactly the configured group/version."""
    with pytest.raises(PluginError, match=message) as caught:
        await ExecCredentials(plugin(body), clock=clock).identity()

    assert "s3cret" not in str(caught.value)


HANGS = """
alive = open({alive!r}, 'w')
if os.fork() == 0: time.sleep(60)
with open({ready!r}, 'w') as ready: ready.write('up')
time.sleep(60)
"""


class Pipes:
    """How a test sees that a plugin runs, and (by the end of a pipe) that it has ended."""

    def __init__(self, directory: Path) -> None:
        self.alive, self.ready = directory / "alive", directory / "ready"
        os.mkfifo(self.alive)
        os.mkfifo(self.ready)

    def read_ready(self) -> str:
        return self.ready.read_text()

    def read_alive(self) -> str:
        return self.alive.read_text()


@pytest.fixture
def pipes(tmp_path: Path) -> Pipes:
    return Pipes(tmp_path)


@pytest.fixture
def hanging(plugin: Plugin, pipes: Pipes) -> ExecConfig:
    return plugin(HANGS.format(alive=str(pipes.alive), ready=str(pipes.ready)))


@posix_only
async def test_a_plugin_that_hangs_is_killed_with_its_children(
    hanging: ExecConfig, pipes: Pipes, clock: ManualClock
) -> None:
    credentials = ExecCredentials(hanging, clock=clock, time_limit=30)
    asking = asyncio.create_task(credentials.identity())
    over = asyncio.create_task(asyncio.to_thread(pipes.read_alive))
    await asyncio.to_thread(pipes.read_ready)

    await clock.advance(30)
    with pytest.raises(PluginError, match="no output within 30 s, it was killed"):
        await asking

    await over
    assert credentials.stats().calls == {(1, "client_internal_error"): 1}


@posix_only
async def test_a_cancelled_request_leaves_no_plugin_behind(
    hanging: ExecConfig, pipes: Pipes, clock: ManualClock
) -> None:
    """X-7: a cancelled call leaves nothing open."""
    asking = asyncio.create_task(ExecCredentials(hanging, clock=clock).identity())
    over = asyncio.create_task(asyncio.to_thread(pipes.read_alive))
    await asyncio.to_thread(pipes.read_ready)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    await over


@posix_only
async def test_a_request_that_is_cancelled_while_its_plugin_starts_leaves_none_behind(
    hanging: ExecConfig, pipes: Pipes, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X-7: a plugin may be ahead of a busy event loop."""
    up: list[str] = []

    class Ahead(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            up.append(pipes.read_ready())

    monkeypatch.setattr(subprocess, "Popen", Ahead)
    asking = asyncio.create_task(ExecCredentials(hanging, clock=clock).identity())
    over = asyncio.create_task(asyncio.to_thread(pipes.read_alive))
    while not up:
        await asyncio.sleep(0)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    await over


@posix_only
async def test_when_the_first_caller_is_cancelled_the_next_one_loads(
    plugin: Plugin, runs: Runs, pipes: Pipes, clock: ManualClock
) -> None:
    config = plugin(
        f"""
        if run == 1:
            with open({str(pipes.ready)!r}, 'w') as ready: ready.write('up')
            time.sleep(60)
        answer(token='t')
        """
    )
    credentials = ExecCredentials(config, clock=clock)
    first = asyncio.create_task(credentials.identity())
    await asyncio.to_thread(pipes.read_ready)
    second = asyncio.create_task(credentials.identity())
    await asyncio.sleep(0)

    first.cancel()

    assert (await second).authorization == "Bearer t"
    assert runs() == 2


async def test_a_program_that_cannot_be_started_is_our_error(
    tmp_path: Path, clock: ManualClock
) -> None:
    broken = tmp_path / "plugin"
    broken.write_bytes(b"\x7fELF rubbish")
    broken.chmod(0o755)
    config = ExecConfig(
        command=str(broken),
        api_version="client.authentication.k8s.io/v1",
        interactive_mode="Never",
    )

    with pytest.raises(PluginError, match="cannot be started: Exec format error"):
        await ExecCredentials(config, clock=clock).identity()


async def test_a_denied_plugin_is_not_run(plugin: Plugin, runs: Runs, clock: ManualClock) -> None:
    """EXE-12, EXE-13: plugin policy: `AllowAll` (or empty) / `DenyAll` / `Allowlist`."""
    denied = ExecCredentials(
        plugin("answer(token='t')", policy=ExecPolicy(mode="DenyAll")), clock=clock
    )
    config = plugin("answer(token='t')")
    listed = ExecPolicy(mode="Allowlist", allowlist=(config.command,))
    allowed = ExecCredentials(msgspec.structs.replace(config, policy=listed), clock=clock)

    with pytest.raises(PluginDenied, match="policy DenyAll does not allow"):
        await denied.identity()
    assert runs() == 0
    await allowed.identity()

    assert (denied.stats().allowed, denied.stats().denied) == (0, 1)
    assert (allowed.stats().allowed, allowed.stats().denied) == (1, 0)


async def test_what_a_good_plugin_writes_is_not_logged_at_any_level(
    plugin: Plugin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    config = plugin("sys.stderr.write('got the token s3cret'); answer(token='s3cret')")
    credentials = ExecCredentials(config, clock=SystemClock())

    identity = await credentials.identity()

    assert "the plugin wrote 20 characters to stderr" in caplog.text
    assert all(record.levelname == "DEBUG" for record in caplog.records)
    for shown in (caplog.text, repr(identity), repr(credentials), repr(credentials.stats())):
        assert "s3cret" not in shown


async def test_a_rejection_of_what_was_never_given_runs_nothing(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-9: on a 401 response the plugin is run again."""
    await ExecCredentials(plugin("answer(token='t')"), clock=clock).refresh(Identity(epoch=9))

    assert runs() == 0


async def test_credentials_are_shared_by_handing_them_on_and_not_by_accident(
    plugin: Plugin, runs: Runs, clock: ManualClock
) -> None:
    """EXE-2: there is no cache of the process; callers share a value explicitly."""
    config = ClusterConfig(server="https://h", exec=plugin("answer(token=f't{run}')"))
    opened = open_credentials(config, clock=clock)
    sharing = open_credentials(config.replace(credentials=opened), clock=clock)
    alone = open_credentials(config, clock=clock)

    identities = [await each.identity() for each in (opened, sharing, alone)]

    assert [each.authorization for each in identities] == ["Bearer t1", "Bearer t1", "Bearer t2"]
    assert runs() == 2


@posix_only
async def test_an_interactive_program_has_our_terminal(
    plugin: Plugin, clock: ManualClock, capfd: pytest.CaptureFixture[str]
) -> None:
    """EXE-4: its prompt is visible at once, and its output is still captured."""
    config = plugin(
        "sys.stderr.write('Password: '); print(os.getsid(0) == os.getsid(os.getppid()))"
    )

    finished = await run_program(
        (config.command, *config.args),
        environ={**os.environ, "KUBERNETES_EXEC_INFO": "{}"},
        interactive=True,
        limit=None,
        clock=clock,
    )

    assert (finished.code, finished.stdout, finished.stderr) == (0, b"True\n", "")
    assert "Password: " in capfd.readouterr().err
