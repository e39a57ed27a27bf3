"""Running inspectors are found by their user, and by nobody else."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kubeloop.inspector import RunningInspector, running_inspectors
from kubeloop.inspector.whereabouts import announced

MINE = RunningInspector("http://127.0.0.1:8090/", os.getpid(), "shop", "open-sesame")


def test_one_that_runs_is_found_and_one_that_has_ended_is_not() -> None:
    with announced(MINE):
        assert running_inspectors() == [MINE]

    assert running_inspectors() == []


def test_the_file_is_for_its_user_only(runtime_folder: Path) -> None:
    with announced(MINE):
        (path,) = runtime_folder.rglob("*.json")

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_one_that_is_being_announced_is_not_taken_for_a_dead_one() -> None:
    """Whoever looks at that moment would remove its file."""
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            running_inspectors()

    somebody = threading.Thread(target=look)
    somebody.start()
    try:
        for _ in range(100):
            with announced(MINE):
                assert running_inspectors() == [MINE]
    finally:
        is_over.set()
        somebody.join()


@pytest.mark.timeout(30)
def test_the_file_of_a_process_that_was_killed_is_removed(runtime_folder: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = runtime_folder / "kubeloop" / "inspectors"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(
        f'{{"address":"http://127.0.0.1:1/","pid":{ended.pid},"name":"x"}}'
    )
    (folder / "2.json").write_text('{"addr')
    (folder / "3.json").write_text(f'{{"address":"http://a/","pid":{10**30},"name":"x"}}')

    assert running_inspectors() == []
    assert list(folder.iterdir()) == []


def test_where_no_file_can_be_written_the_process_goes_on(
    runtime_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (runtime_folder / "kubeloop").write_text("in the way")
    caplog.set_level(logging.INFO)

    with announced(MINE):
        assert running_inspectors() == []

    assert "not to be found" in caplog.text
    assert "open-sesame" not in caplog.text


def test_without_a_runtime_folder_it_is_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with announced(MINE):
        assert list((tmp_path / "cache").rglob("*.json")) != []


def test_the_address_has_the_token_and_the_repr_has_not() -> None:
    assert MINE.url == "http://127.0.0.1:8090/?token=open-sesame"
    assert "open-sesame" not in repr(MINE)
