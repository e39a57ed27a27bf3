"""The plugin that slows the test process down."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slow_process import Delays

pytest_plugins = ("pytester",)


def delays_for(seed: str) -> list[float]:
    delays = Delays(seed)
    return [delays.next(0.5) for _ in range(1000)]


def test_the_same_seed_gives_the_same_delays() -> None:
    assert delays_for("7 a") == delays_for("7 a") != delays_for("8 a")


def test_the_delays_of_a_test_are_limited() -> None:
    delays = delays_for("7")

    assert 1 < sum(delays) < 2
    assert delays[-1] == 0


@pytest.mark.timeout(60)  # starts an interpreter
def test_loops_and_threads_still_work(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    pytester.makepyfile(
        """
        import asyncio, socket

        async def both():
            near, far = socket.socketpair()
            with near, far:
                near.setblocking(False)
                receiving = asyncio.create_task(asyncio.get_running_loop().sock_recv(near, 9))
                await asyncio.to_thread(far.send, b"hello")
                return await receiving

        def test_it():
            for _ in range(50):
                assert asyncio.run(both()) == b"hello"
        """
    )
    result = pytester.runpytest_subprocess("-p", "tests.support.slow_process", "--slow", "7")
    result.assert_outcomes(passed=1)
