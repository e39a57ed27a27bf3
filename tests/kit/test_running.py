"""Running a main coroutine."""

from __future__ import annotations

import asyncio

import pytest

from kubeloop.kit import new_event_loop, run


def test_the_main_coroutine_runs_on_uvloop_where_it_is_installed() -> None:
    async def main() -> str:
        return type(asyncio.get_running_loop()).__module__

    expected = pytest.importorskip("uvloop").__name__

    assert run(main()).partition(".")[0] == expected


def test_what_main_raises_leaves_and_the_loop_is_closed() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        raise LookupError("as it came")

    with pytest.raises(LookupError, match="as it came"):
        run(main())

    assert loops[0].is_closed()


def test_without_uvloop_the_standard_loop_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "uvloop", None)

    loop = new_event_loop()

    assert type(loop).__module__.startswith("asyncio")
    loop.close()
