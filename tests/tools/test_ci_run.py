"""`.ci/run` runs its steps as on a new machine, and reports each at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.timeout(60),  # each starts many programs
    pytest.mark.skipif(sys.platform == "win32", reason="the gate is a shell script"),
]

# Records for each step the variables, the files of HOME and the programs that it finds.
FAKE_MAKE = """#!/bin/sh
exec 3> "$1${2:+-$(echo "$2" | cut -c 6-10)}"
env >&3
echo "files: $(cd && find -L . -name '*' ! -name .)" >&3
for name in fish kubectl zsh; do echo "$name: $(command -v $name) $($name 2>&1)" >&3; done
case $1 in
  test) echo 'FLAKY tests/test_a.py::test_b: failed in the run, passed alone'
        echo 'UNEXPECTED SKIP tests/test_a.py::test_c: no zsh'
        echo '8 passed, 1 flaky in 3.20s' ;;
  docs) echo 'a link is broken'; exit 2 ;;
esac
"""


class ScriptCopy:
    """A copy of the script in a folder where `make` records what it sees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.assets = self.home / ".cache" / "kubeloop" / "assets"
        self.assets.mkdir(parents=True)
        (self.assets / "etcd").touch()
        self._bin = folder / "bin"
        self.program("make", FAKE_MAKE)
        (folder / ".ci").mkdir()
        (folder / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())

    def program(self, name: str, text: str = "#!/bin/sh\necho of the machine\n") -> None:
        self._bin.mkdir(exist_ok=True)
        (self._bin / name).write_text(text, encoding="utf-8")
        (self._bin / name).chmod(0o755)

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        path = f"{self._bin}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return subprocess.run(
            ["bash", self.folder / ".ci" / "run"],
            env={"PATH": path, "HOME": str(self.home), **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def seen_by(self, step: str) -> str:
        return (self.folder / step).read_text(encoding="utf-8")


@pytest.fixture
def script(tmp_path: Path) -> ScriptCopy:
    return ScriptCopy(tmp_path)


def test_the_closing_lines_name_flaky_tests_unexpected_skips_and_failed_steps(
    script: ScriptCopy,
) -> None:
    done = script.run()

    lines = done.stdout.splitlines()
    notes = [
        "FLAKY tests/test_a.py::test_b: failed in the run, passed alone",
        "UNEXPECTED SKIP tests/test_a.py::test_c: no zsh",
    ]
    skips, summary = "--expected-skips anywhere", "8 passed, 1 flaky in 3.20s"
    assert done.returncode == 1
    assert lines[lines.index("make check: passed") :] == [
        "make check: passed",
        f"make test ARGS={skips},test,without-assets: passed: {summary}",
        *notes,
        f"make test ARGS=tests/peers {skips},test,without-assets: passed: {summary}",
        *notes,
        "make assets: passed",
        "make generate ARGS=--check: passed",
        f"make test-assets ARGS={skips},test: passed",
        f"make test-real ARGS={skips},test-real: passed",
        f"make test-browser ARGS={skips}: passed",
        "make docs: FAILED",
        "make dist: passed",
    ]


def test_a_step_gets_an_empty_home_and_named_variables_only(script: ScriptCopy) -> None:
    (script.home / ".npmrc").touch()

    script.run(
        KUBECONFIG="/home/user/.kube/config",
        GOOGLE_APPLICATION_CREDENTIALS="key.json",
        KUBEBUILDER_ASSETS="/envtest",
        PIP_INDEX_URL="https://index.example",
        XDG_DATA_HOME="/home/user/.local/share",
        LC_TIME="a b\nc",
    )

    seen = script.seen_by("test---exp").splitlines()
    assert f"NPM_CONFIG_USERCONFIG={script.home}/.npmrc" in seen
    assert "PIP_INDEX_URL=https://index.example" in seen
    assert "LC_TIME=a b" in seen
    assert "PYTEST_TIMEOUT=30" in seen
    assert "files: " in seen
    names = {line.partition("=")[0] for line in seen}
    assert not names & {"KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "XDG_DATA_HOME"}
    assert "KUBEBUILDER_ASSETS" not in names
    assert "KUBEBUILDER_ASSETS=/envtest" in script.seen_by("test-real---exp").splitlines()


def test_the_tests_run_without_the_assets_first_and_then_with_those_of_the_user(
    script: ScriptCopy,
) -> None:
    script.run()

    assert "etcd" not in script.seen_by("test---exp")
    assert "etcd" not in script.seen_by("test-tests")
    for step in ("assets", "generate---che", "test-assets---exp", "test-real---exp"):
        assert "./.cache/kubeloop/assets/etcd" in script.seen_by(step)
    assert (script.assets / "etcd").exists()


def test_a_machine_with_go_checks_what_is_written_with_go(script: ScriptCopy) -> None:
    script.program("go", "#!/bin/sh\n")

    done = script.run()

    assert "make go-types ARGS=--check: passed" in done.stdout.splitlines()


def test_a_machine_without_the_assets_keeps_those_that_the_gate_builds(script: ScriptCopy) -> None:
    (script.assets / "etcd").unlink()
    script.assets.rmdir()
    build = FAKE_MAKE + 'if [ "$1" = assets ]; then touch "$HOME/.cache/kubeloop/assets/etcd"; fi\n'
    script.program("make", build)

    script.run()

    assert (script.assets / "etcd").exists()


def test_the_tests_run_without_shells_and_kubectl_and_then_with_an_old_kubectl(
    script: ScriptCopy,
) -> None:
    for name in ("fish", "kubectl", "zsh"):
        script.program(name)

    script.run()

    bare = script.seen_by("test---exp")
    assert [f"{name}:  " in bare for name in ("fish", "kubectl", "zsh")] == [True] * 3
    assert "of the machine" not in bare
    old = script.seen_by("test-tests").splitlines()
    assert any(line.startswith("kubectl: /") and "v1.20.0" in line for line in old)
    assert any(line.startswith("zsh: /") and "of the machine" in line for line in old)


def test_the_tests_run_without_the_extras_of_other_targets(script: ScriptCopy) -> None:
    (script.folder / ".venv").mkdir()
    (script.folder / ".venv" / ".docs").touch()

    script.run()

    assert not (script.folder / ".venv").exists()
