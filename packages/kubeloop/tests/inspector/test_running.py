"""Running inspectors are found by their user only."""

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
from kubeloop.inspector.running import register

INSPECTOR = RunningInspector("http://127.0.0.1:8090/", os.getpid(), "shop", "open-sesame")


def test_a_running_inspector_is_found_and_a_stopped_one_is_not() -> None:
    with register(INSPECTOR):
        assert running_inspectors() == [INSPECTOR]

    assert running_inspectors() == []


def test_only_the_user_can_read_the_file(runtime_directory: Path) -> None:
    with register(INSPECTOR):
        (path,) = runtime_directory.rglob("*.json")

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_incomplete_file_is_not_removed_by_a_reader() -> None:
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            running_inspectors()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(100):
            with register(INSPECTOR):
                assert running_inspectors() == [INSPECTOR]
    finally:
        stop.set()
        reader.join()


@pytest.mark.timeout(30)
def test_the_file_of_a_killed_process_is_removed(runtime_directory: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    directory = runtime_directory / "kubeloop" / "inspectors"
    directory.mkdir(parents=True)
    (directory / "1.json").write_text(
        f'{{"address":"http://127.0.0.1:1/","pid":{ended.pid},"name":"x"}}'
    )
    (directory / "2.json").write_text('{"addr')
    (directory / "3.json").write_text(f'{{"address":"http://a/","pid":{10**30},"name":"x"}}')

    assert running_inspectors() == []
    assert list(directory.iterdir()) == []


def test_a_directory_that_is_not_writable_is_not_an_error(
    runtime_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (runtime_directory / "kubeloop").write_text("a file")
    caplog.set_level(logging.INFO)

    with register(INSPECTOR):
        assert running_inspectors() == []

    assert "will not find it" in caplog.text
    assert "open-sesame" not in caplog.text


def test_without_a_runtime_directory_the_cache_directory_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with register(INSPECTOR):
        assert list((tmp_path / "cache").rglob("*.json")) != []


def test_the_url_has_the_token_and_the_repr_does_not() -> None:
    assert INSPECTOR.url == "http://127.0.0.1:8090/?token=open-sesame"
    assert "open-sesame" not in repr(INSPECTOR)
