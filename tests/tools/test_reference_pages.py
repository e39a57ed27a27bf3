"""The reference is what the sources say, and reads without a build."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import reference_pages
import reference_source
import reference_tables
from reference_pages import FOLDER, MARK, PAGES, expected_text
from reference_source import PACKAGES, Definition, Module

from kubeloop.cache import CACHE_METRIC_NAMES
from kubeloop.election import ELECTION_METRIC_NAMES
from kubeloop.rest import METRIC_NAMES
from kubeloop.runtime import RECONCILE_METRIC_NAMES

METRICS = (
    *METRIC_NAMES,
    *CACHE_METRIC_NAMES,
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_queue_duration_seconds",
    "workqueue_work_duration_seconds",
    "workqueue_unfinished_work_seconds",
    "workqueue_longest_running_processor_seconds",
    "workqueue_retries_total",
    *ELECTION_METRIC_NAMES,
    *RECONCILE_METRIC_NAMES,
)
SOURCE = '''
"""Leases."""

import msgspec

__all__ = ["MAX", "Elector", "Lease", "acquire"]

# The longest lease, in seconds.
MAX = 3600


class Lease(msgspec.Struct, frozen=True):
    """A lease."""

    holder: str
    seconds: float = 15.0  # how long it lasts
    renewed: bool = False  # noqa: X100
    """Whether it was renewed."""
    _uid: str = ""

    @property
    def is_free(self) -> bool:
        return not self.holder


class _Base:
    def stop(self) -> None:
        """Stop. Safe to repeat."""

    def _settle(self) -> None: ...


class Elector(_Base):
    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._state = {"a": 1}

    @overload
    def read(self, key: int) -> int: ...
    @overload
    def read(self, key: str) -> str: ...
    @strict_keywords
    def read(
        self,
        key: int | str,
        *,
        default: dict[str, int] = {},
    ) -> int | str:
        """Read a key.

        A long story.
        Raises: KeyError when there is none.
        """
        return key


async def acquire(lease: Lease, *, wait: float = MAX) -> bool:  # type: ignore[x]
    """Acquire a lease."""
    return True
'''


@pytest.fixture
def leases(tmp_path: Path) -> Module:
    file = tmp_path / "leases.py"
    file.write_text(SOURCE, encoding="utf-8")
    return Module("leases", file)


def definition(module: Module, name: str) -> Definition:
    found = reference_source.definition_of(module, name)
    assert found is not None
    return found


# --- the pages in the repository


@pytest.mark.timeout(60)  # reads most sources
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_the_sources_say(page: str) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")

    assert text == expected_text(page), f"{page}.md is not up to date: make reference"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_page_has_a_section_for_each_public_name(package: str) -> None:
    module = reference_source.read_module(package)
    assert module is not None
    page = (FOLDER / reference_pages.page_of(package)).read_text(encoding="utf-8")

    sections = re.findall(r"^### (\w+)$", page, re.MULTILINE)

    assert {*module.exported} - {*sections} == set()
    anchors = [section.lower() for section in sections]
    assert sorted(anchors) == sorted(set(anchors))


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_a_section(page: str) -> None:
    generated = (FOLDER / f"{page}.md").read_text(encoding="utf-8").partition(MARK)[2]

    links = re.findall(r"\]\((\w+\.md)?#(\w+)\)", generated)

    for target, anchor in {*links}:
        text = (FOLDER / (target or f"{page}.md")).read_text(encoding="utf-8")
        assert anchor in {name.lower() for name in re.findall(r"^### (\w+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES)
def test_definitions_on_a_page_are_python(page: str) -> None:
    generated = (FOLDER / f"{page}.md").read_text(encoding="utf-8").partition(MARK)[2]

    for section in generated.split("\n### ")[1:]:
        *_, block = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        ast.parse(block)


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_text_have_at_most_120_characters(page: str) -> None:
    generated = (FOLDER / f"{page}.md").read_text(encoding="utf-8").partition(MARK)[2]
    text = re.sub(r"^```.*?^```$", "", generated, flags=re.DOTALL | re.MULTILINE)

    lines = [line for line in text.splitlines() if not re.match(r"\||\s*- ", line)]

    assert [line for line in lines if len(line) > reference_pages.WIDTH] == []


def test_an_error_is_listed_under_its_family_and_links_to_its_package() -> None:
    lines = (FOLDER / "errors.md").read_text(encoding="utf-8").splitlines()

    family = next(number for number, line in enumerate(lines) if "- [`ConfigError`]" in line)

    expected = "        - [`CredentialError`](config.md#credentialerror) – "
    assert lines[family + 1].startswith(expected)


def test_every_metric_has_a_line() -> None:
    page = reference_tables.metrics()

    assert [name for name in METRICS if f"| `{name}` |" not in page] == []


def test_kinds_are_listed_by_the_module_that_has_their_class() -> None:
    page = reference_tables.kinds()

    apps = page.partition("## kubeloop.wire.apps.v1")[2].partition("\n## ")[0]

    assert "| `Deployment` | `deployments` | deploy | yes |" in apps


# --- how a source is read


def test_a_struct_shows_its_fields_with_their_comments(leases: Module) -> None:
    assert definition(leases, "Lease").stub() == (
        "class Lease(msgspec.Struct, frozen=True):\n"
        "    holder: str\n"
        "    seconds: float = 15.0  # how long it lasts\n"
        "    renewed: bool = False\n"
        '    """Whether it was renewed."""\n'
        "\n"
        "    @property\n"
        "    def is_free(self) -> bool: ..."
    )


def test_a_class_shows_the_implementation_of_overloads_and_the_members_of_a_private_base(
    leases: Module,
) -> None:
    assert definition(leases, "Elector").stub() == (
        "class Elector(_Base):\n"
        "    lease: Lease\n"
        "\n"
        "    def __init__(self, lease: Lease) -> None: ...\n"
        "\n"
        "    def read(\n"
        "        self,\n"
        "        key: int | str,\n"
        "        *,\n"
        "        default: dict[str, int] = {},\n"
        "    ) -> int | str:\n"
        '        """Read a key.\n'
        "\n"
        "        Raises: KeyError when there is none.\n"
        '        """\n'
        "\n"
        "    def stop(self) -> None:\n"
        '        """Stop. Safe to repeat."""'
    )


def test_functions_and_values_are_shown_as_they_are_written(leases: Module) -> None:
    function, value = definition(leases, "acquire"), definition(leases, "MAX")

    assert function.stub() == "async def acquire(lease: Lease, *, wait: float = MAX) -> bool: ..."
    assert (value.stub(), value.docstring) == ("MAX = 3600", "The longest lease, in seconds.")


def test_a_page_that_is_not_up_to_date_fails_the_check_and_is_written_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference_pages, "FOLDER", tmp_path)
    monkeypatch.setattr(reference_pages, "PAGES", {"leases": lambda: "A lease."})
    file = tmp_path / "leases.md"
    file.write_text(f"# Leases\n\n{MARK}\n\nAn old text.\n", encoding="utf-8")

    assert reference_pages.main(["--check"]) == 1
    assert "1 would change: leases" in capsys.readouterr().out
    assert reference_pages.main([]) == 0
    assert reference_pages.main(["--check"]) == 0

    by_hand, _, generated = file.read_text(encoding="utf-8").partition(MARK)
    assert by_hand == "# Leases\n\n"
    assert generated.endswith("\n\nA lease.\n")
    assert "old" not in generated
