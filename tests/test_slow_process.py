"""The plugin that makes our own process seem busy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.slow_process import Rests

pytest_plugins = ("pytester",)


def rests_of(seed: str) -> list[float]:
    rests = Rests(seed)
    return [rests.next(0.5) for _ in range(1000)]


def test_the_same_seed_gives_the_same_rests() -> None:
    assert rests_of("7 a") == rests_of("7 a") != rests_of("8 a")


def test_the_rests_of_a_test_come_to_an_end() -> None:
    rests = rests_of("7")

    assert 1 < sum(rests) < 2
    assert rests[-1] == 0


@pytest.mark.timeout(60)  # an interpreter of its own
def test_loops_and_threads_still_come_to_their_end(
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
                hearing = asyncio.create_task(asyncio.get_running_loop().sock_recv(near, 9))
                await asyncio.to_thread(far.send, b"hello")
                return await hearing

        def test_it():
            for _ in range(50):
                assert asyncio.run(both()) == b"hello"
        """
    )
    result = pytester.runpytest_subprocess("-p", "tests.support.slow_process", "--sluggish", "7")
    result.assert_outcomes(passed=1)
