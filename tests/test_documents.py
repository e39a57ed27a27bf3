"""The pages agree with the code and with each other; their code runs in `test_pages`."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import kubeloop
from kubeloop_testing.server.verbs import writing
from tests.support.distributions import EXTRAS, PROJECTS

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("examples/*.md"),
        *ROOT.glob("packages/*/*.md"),
    ]
)
# Pages that tools/docs_site.py generates from top-level files.
MADE = {"changelog.md", "code-of-conduct.md", "contributing.md", "security.md"}
# Pages of the reference that are not about a package.
TABLES = {
    "conformance", "differences", "extras", "glossary", "index", "kinds", "metrics",
    "promises", "simulation", "versioning",
}  # fmt: skip
PACKAGES = {found.name for found in pkgutil.iter_modules(kubeloop.__path__) if found.ispkg}


def test_the_architecture_page_lists_the_packages() -> None:
    section = ARCHITECTURE.partition("## Packages\n")[2].partition("\n## ")[0]

    assert {*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} == PACKAGES


NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def test_the_readme_counts_the_dependencies() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [re.split(r"[^\w-]", each)[0] for each in PROJECTS["kubeloop"]["dependencies"]]
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^The core depends on (.+?)\.", contributing, re.MULTILINE)

    assert f"there are {NUMBERS[len(names)]} dependencies" in " ".join(readme.split())
    assert {*re.split(r", | and ", listed)} == {*names}


def test_the_tutorial_counts_its_pages() -> None:
    pages = len([*(ROOT / "docs/tutorial").glob("*.md")])
    first = (ROOT / "docs/tutorial/first-script.md").read_text(encoding="utf-8")

    assert f"After the {NUMBERS[pages]} pages of this tutorial" in first


def test_the_architecture_page_names_the_layers_of_the_import_contract() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    contract = next(each for each in contracts if each["id"] == "layers")
    layers = [re.findall(r"\w+", layer) for layer in contract["layers"]]

    assert {package for layer in layers for package in layer} == PACKAGES
    assert "\n".join(" | ".join(layer) for layer in layers) in ARCHITECTURE


def test_the_architecture_page_shows_the_layers_of_the_embedded_server() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    contract = next(each for each in contracts if each["id"] == "server")

    assert "```\n" + "\n".join(contract["layers"]) + "\n```" in ARCHITECTURE


def test_the_paths_on_the_architecture_page_exist() -> None:
    section = ARCHITECTURE.partition("## Paths of the main jobs")[2].partition("\n## ")[0]
    paths = re.findall(r"^\W*(\w+(?:/\w+)+\.py)\b", section, re.MULTILINE)

    assert len(paths) > 10
    library = ROOT / "packages/kubeloop/src/kubeloop"
    testing = ROOT / "packages/kubeloop-testing/src"
    assert [
        path for path in paths if not any((base / path).exists() for base in (library, testing))
    ] == []


@pytest.mark.parametrize("write", [writing.CREATE, writing.APPLY], ids=["create", "apply"])
def test_the_architecture_page_lists_the_steps_of_a_write(write: writing.Steps) -> None:
    lines = [f"{step.__name__:22s}{(step.__doc__ or '').splitlines()[0]}" for step in write]

    assert "```\n" + "\n".join(lines) + "\n```" in ARCHITECTURE


def test_each_package_has_a_page_in_the_reference() -> None:
    pages = {path.stem for path in (ROOT / "docs/reference").glob("*.md")}

    # Programs import nothing from the command line.
    assert PACKAGES | {"testing"} == pages - TABLES


def test_the_page_of_extras_lists_the_extras() -> None:
    page = (ROOT / "docs/reference/extras.md").read_text(encoding="utf-8")

    listed = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))

    assert listed == {*PROJECTS, *EXTRAS}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_are_valid(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text)

    assert [link for link in links if not _exists(document.parent / link)] == []


def _exists(target: Path) -> bool:
    docs = ROOT / "docs"
    made = target.resolve().is_relative_to(docs) and str(target.resolve().relative_to(docs)) in MADE
    return made or target.exists()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_import_only_public_names(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    imports = re.findall(r"^from (kubeloop[\w.]*) import (?:\(([^)]+)\)|(.+))$", text, re.MULTILINE)
    names = [
        (module, name)
        for module, *lists in imports
        for name in re.findall(r"\w+", re.sub(r"#.*", "", "".join(lists)))
    ]

    assert [
        (module, name)
        for module, name in names
        if name not in getattr(importlib.import_module(module), "__all__", [name])
    ] == []
