"""The reader of pages detects errors of a page."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.support import page_reader
from tests.support.distributions import EXTRAS
from tests.support.page_reader import OPTIONAL, Block, Reader, installed_by, kind_of

pytestmark = pytest.mark.timeout(120)  # starts interpreters


def follow(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a page with this text, in a separate directory."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "page.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(page_reader, "ROOT", docs)
    with Reader(folder) as reader:
        reader.follow("page.md")


@pytest.mark.parametrize(
    "code",
    [
        "1 / 0",
        "print(client)",
        "if True:\n    a = 1\n\n    b = 2",
        "import asyncio\n\nasyncio.sleep(0)",
        "from kubeloop.blocking import Client\n\nwith Client() as client:\n    client.version()",
    ],
)
def test_statements_that_fail_in_an_interpreter_are_detected(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError):
        follow(f"```python\n{code}\n```\n", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "code", ["from kubeloop import run\n\nrun(main())", "def test_it():\n    assert 1 == 2"]
)
def test_programs_and_tests_that_fail_are_detected(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError):
        follow(f"```python\n{code}\n```\n", tmp_path, monkeypatch)


@pytest.mark.parametrize(("last", "is_valid"), [("1 failed in …", True), ("…", False)])
def test_a_command_may_fail_if_the_page_shows_failed_tests(
    last: str, is_valid: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"""
```python title="test_it.py"
def test_it() -> None:
    assert not "it works"
```

```console
$ pytest -q test_it.py
…
{last}
```
"""
    with contextlib.nullcontext() if is_valid else pytest.raises(AssertionError, match="exit code"):
        follow(page, tmp_path, monkeypatch)


def test_a_page_finds_no_cluster_that_it_has_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/somewhere")
    page = """
```python
import os

assert "KUBECONFIG" not in os.environ
assert os.path.exists(os.path.expanduser("~/docs/page.md"))
```
"""
    follow(page, tmp_path, monkeypatch)


def test_blocks_with_the_same_title_are_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = """
```python title="a.py"
one = 1
```
```python title="a.py"
print(one + 1)
```
```console
$ python a.py
2
```
"""
    follow(page, tmp_path, monkeypatch)


def test_python_without_a_title_is_a_program_tests_or_statements() -> None:
    def kind(text: str) -> str:
        return kind_of(Block("python", "", text, 1))

    assert kind("async def main(): ...\n\n\nrun(main())\n") == "program"
    assert kind("@pytest.mark.asyncio\nasync def test_it(): ...\n") == "tests"
    assert kind("pods = client.core_v1.pods()\n") == "lines"


def test_a_package_that_no_page_installs_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = """
`pip install 'kubeloop[metrics]' pytest`

```python
import prometheus_client
import pytest
```

```python
import click
```
"""
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(page_reader, "ROOT", tmp_path)
    installed = installed_by("page.md")

    assert installed == {"metrics", "pytest"}
    with (
        Reader(tmp_path / "home", installed=installed) as reader,
        pytest.raises(AssertionError, match="import of click halted"),
    ):
        reader.follow("page.md")


def test_every_extra_for_users_has_to_be_installed_by_a_page() -> None:
    assert {*EXTRAS} <= {*OPTIONAL}
