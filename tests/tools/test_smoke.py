"""The smoke test of archives; `make dist` runs it on the real ones."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from smoke import (
    ROOT,
    Environment,
    SmokeTestFailed,
    archives_in,
    files_below,
    main,
    names_in,
    sdist_problems,
    wheel_problems,
)

SOURCES = ["src/kubeloop/__init__.py", "src/kubeloop/py.typed"]
COMPLETE = ["kubeloop/__init__.py", "kubeloop/py.typed", "kubeloop-1.dist-info/METADATA"]


def test_a_complete_wheel_has_no_problems() -> None:
    assert list(wheel_problems(COMPLETE, SOURCES)) == []


def test_a_missing_file_of_a_wheel_is_found() -> None:
    assert list(wheel_problems(COMPLETE[:1], SOURCES)) == ["the wheel lacks kubeloop/py.typed"]


@pytest.mark.parametrize("stray", ["conftest.py", "kubeloop/scratch.txt", "bench/pods.py"])
def test_an_unexpected_file_of_a_wheel_is_found(stray: str) -> None:
    (problem,) = wheel_problems([*COMPLETE, stray], SOURCES)

    assert problem.startswith(f"the wheel has {stray}")


def test_a_missing_file_of_an_sdist_is_found() -> None:
    (problem,) = sdist_problems(["Makefile"], ["Makefile", "conftest.py"])

    assert problem.startswith("the sdist lacks conftest.py")


def test_build_output_in_an_sdist_is_found() -> None:
    names = ["Makefile", "src/kubeloop/__pycache__/a.pyc"]

    assert list(sdist_problems(names, ["Makefile"])) == [f"the sdist has {names[1]}"]


def test_build_output_is_no_file_of_a_distribution() -> None:
    names = files_below("packages/kubeloop/src")

    assert "packages/kubeloop/src/kubeloop/py.typed" in names
    assert not any("__pycache__" in name for name in names)


def test_the_files_of_both_archives_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with zipfile.ZipFile(tmp_path / "kubeloop-1-py3-none-any.whl", "w") as wheel:
        wheel.write(tmp_path / "file", "kubeloop/py.typed")
    with tarfile.open(tmp_path / "kubeloop-1.tar.gz", "w:gz") as sdist:
        sdist.add(tmp_path / "file", "kubeloop-1/src/kubeloop/py.typed")

    wheel_path, sdist_path = archives_in(tmp_path, "kubeloop")

    assert names_in(wheel_path) == ["kubeloop/py.typed"]
    assert names_in(sdist_path) == ["src/kubeloop/py.typed"]


def test_a_directory_without_archives_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 1
    assert "0 wheels and 0 sdists of kubeloop," in capsys.readouterr().err


@pytest.mark.timeout(60)
def test_a_failed_command_shows_its_output(tmp_path: Path) -> None:
    environment = Environment(tmp_path)

    assert environment.run(sys.executable, "-c", "print('fine')") == "fine"
    with pytest.raises(SmokeTestFailed, match="exit code 3, not 0:\nodd"):
        environment.run(sys.executable, "-c", "print('odd'); raise SystemExit(3)")


@pytest.mark.timeout(60)
def test_the_environment_of_the_sources_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "packages/kubeloop/src"))

    output = Environment(tmp_path).run(
        sys.executable, "-c", "import os; print(os.getcwd(), 'PYTHONPATH' in os.environ)"
    )

    assert output == f"{tmp_path} False"
