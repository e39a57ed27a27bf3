"""Tests that compare with kubectl use the version that they describe, and skip otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from assets import KUBERNETES

from tests.support.kubectl import find_kubectl

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake kubectl is a script")

Install = Callable[[Path, str], str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Writes a kubectl into a folder; nothing of the machine is found."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)

    def write(folder: Path, script: str) -> str:
        program = tmp_path / folder / "kubectl"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        return str(program)

    return write


def reports(version: str) -> str:
    return f"""echo '{{"clientVersion": {{"gitVersion": "{version}"}}}}'"""


BIN, ASSETS = Path("bin"), Path("cache/kubeloop/assets")


@pytest.mark.parametrize("folder", [BIN, ASSETS])
def test_the_pinned_version_is_used_wherever_it_is(install: Install, folder: Path) -> None:
    install(BIN, reports("v1.32.0"))
    pinned = install(folder, reports(KUBERNETES))

    assert find_kubectl() == pinned


@pytest.mark.parametrize(
    ("script", "version"),
    [
        (reports("v1.32.0"), "v1.32.0"),
        (reports(f"{KUBERNETES}-dirty"), f"{KUBERNETES}-dirty"),
        ("exit 1", "of an unknown version"),
        ("echo Client Version: v1.37.1", "of an unknown version"),
        ("echo '{}'", "of an unknown version"),
    ],
)
def test_another_kubectl_in_path_is_a_skip_that_names_it(
    install: Install, script: str, version: str
) -> None:
    program = install(BIN, script)

    with pytest.raises(pytest.skip.Exception, match=f"{program} is {version}$"):
        find_kubectl()


def test_a_machine_without_kubectl_is_a_skip_that_says_what_to_do(install: Install) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"no kubectl {KUBERNETES} .run `make assets`"):
        find_kubectl()
