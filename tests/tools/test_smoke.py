"""What the smoke test finds wrong with archives; `make dist` runs all of it on real ones."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from smoke import (
    FILES,
    FOLDERS,
    ROOT,
    Broken,
    Environment,
    archives_in,
    faults_of_sdist,
    faults_of_wheel,
    files_below,
    main,
    names_in,
)

SOURCES = ["src/kubeloop/__init__.py", "src/kubeloop/py.typed"]
WHOLE = ["kubeloop/__init__.py", "kubeloop/py.typed", "kubeloop-1.dist-info/METADATA"]


def test_a_wheel_of_the_package_and_its_metadata_is_right() -> None:
    assert list(faults_of_wheel(WHOLE, SOURCES)) == []


def test_a_wheel_without_some_data_is_found() -> None:
    assert list(faults_of_wheel(WHOLE[:1], SOURCES)) == ["the wheel lacks kubeloop/py.typed"]


@pytest.mark.parametrize("stray", ["tests/conftest.py", "kubeloop/scratch.txt", "bench/pods.py"])
def test_a_wheel_with_something_else_in_it_is_found(stray: str) -> None:
    (fault,) = faults_of_wheel([*WHOLE, stray], SOURCES)

    assert fault.startswith(f"the wheel has {stray}")


def test_an_sdist_that_could_not_run_its_tests_is_found() -> None:
    (fault,) = faults_of_sdist(["Makefile"], ["Makefile", "tests/conftest.py"])

    assert fault.startswith("the sdist lacks tests/conftest.py")


def test_an_sdist_with_what_work_leaves_behind_is_found() -> None:
    names = ["Makefile", "src/kubeloop/__pycache__/a.pyc"]

    assert list(faults_of_sdist(names, ["Makefile"])) == [f"the sdist has {names[1]}"]


def test_the_lists_of_what_an_sdist_needs_name_what_there_is() -> None:
    assert [name for name in FILES if not (ROOT / name).is_file()] == []
    assert [name for name in FOLDERS if not files_below(name)] == []
    assert "src/kubeloop/py.typed" in files_below("src/kubeloop")
    assert not any("__pycache__" in name for name in files_below("src"))


def test_the_files_of_both_archives_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with zipfile.ZipFile(tmp_path / "kubeloop-1-py3-none-any.whl", "w") as wheel:
        wheel.write(tmp_path / "file", "kubeloop/py.typed")
    with tarfile.open(tmp_path / "kubeloop-1.tar.gz", "w:gz") as sdist:
        sdist.add(tmp_path / "file", "kubeloop-1/src/kubeloop/py.typed")

    wheel_path, sdist_path = archives_in(tmp_path)

    assert names_in(wheel_path) == ["kubeloop/py.typed"]
    assert names_in(sdist_path) == ["src/kubeloop/py.typed"]


def test_a_folder_without_archives_is_a_line_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 1
    assert "found 0 wheels and 0 sdists" in capsys.readouterr().err


@pytest.mark.timeout(60)
def test_a_command_that_ends_otherwise_than_it_should_shows_what_it_said(tmp_path: Path) -> None:
    here = Environment(tmp_path)

    assert here.run(sys.executable, "-c", "print('fine')") == "fine"
    with pytest.raises(Broken, match="exit code 3, not 0:\nodd"):
        here.run(sys.executable, "-c", "print('odd'); raise SystemExit(3)")


@pytest.mark.timeout(60)
def test_nothing_of_ours_reaches_what_is_tried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))

    said = Environment(tmp_path).run(
        sys.executable, "-c", "import os; print(os.getcwd(), 'PYTHONPATH' in os.environ)"
    )

    assert said == f"{tmp_path} False"
