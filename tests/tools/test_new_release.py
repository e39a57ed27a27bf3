"""One command changes every place that names the version of Kubernetes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from assets import KUBERNETES
from new_release import KUBERNETES_MODULE, MODULES, PINS, edits, minor_of, versions_to_test

ROOT = Path(__file__).parents[2]
# What was measured with a version keeps its name until it is measured again.
MEASURED = {
    "docs/explanation/performance.md": re.compile(r"."),
    "docs/reference/conformance.md": re.compile(r"\| passed on kube-apiserver "),
    "docs/reference/versioning.md": re.compile(r"^\| [\d.]+ \| \d+ of \d+ \|"),
    "tools/kubeloop_generate/protobuf_fields.json": re.compile(r"^.\"source\""),
}
# Examples, in comments and docstrings, of what a version looks like.
EXAMPLE = re.compile(r"`v?[01]\.\d+(\.\d+)?`|VERSION=v1")


def _sources() -> list[Path]:
    paths = [ROOT / name for name in ("Makefile", "CONTRIBUTING.md", "README.md", "mkdocs.yml")]
    folders = [ROOT / name for name in ("tools", "docs", ".ci", ".github")]
    for folder in (*folders, *ROOT.glob("packages/*/src")):
        paths += [path for path in folder.rglob("*") if path.is_file()]
    return [
        path
        for path in paths
        if path.suffix in {".md", ".py", ".yml", ".json", ".go", ""}
        and "_generated" not in path.parts
        and "wire" not in path.parts  # line 1 of generated modules
        and path.name != "go_types.json"
        and path.parent.name != "rules"  # of client-go, with figures
        and path.name != "new_release.py"  # has examples
    ]


def test_no_other_place_names_the_pinned_version() -> None:
    """If this fails, add the place to PINS of tools/new_release.py, or leave the version out."""
    minor = re.escape(minor_of(KUBERNETES).removeprefix("1"))
    version = re.compile(rf"(?<![\w.])v?[01]{minor}(\.\d+)?(?![\w.]*\d)")
    problems = []
    for path in _sources():
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for pin, pattern in PINS:
            if pin == name:
                text = text.replace(
                    pattern.format(minor=minor_of(KUBERNETES), version=KUBERNETES[1:]), ""
                )
        problems += [
            f"{name}: {line.strip()}"
            for line in text.splitlines()
            if version.search(line)
            and not (name in MEASURED and MEASURED[name].search(line))
            and not EXAMPLE.search(line)
            and not line.startswith("VERSIONS ?= ")
        ]

    assert problems == []


def test_a_new_release_changes_all_of_them() -> None:
    changed = edits(ROOT, KUBERNETES, "v1.99.3")

    assert {path.relative_to(ROOT).as_posix() for path in changed} == {
        "Makefile",
        *(name for name, _ in PINS),
        *(f"{folder}/go.mod" for folder in MODULES if folder != KUBERNETES_MODULE),
    }
    assert 'KUBERNETES = "v1.99.3"' in changed[ROOT / "tools" / "assets.py"]
    published = KUBERNETES.replace("v1.", "v0.", 1)
    for folder in set(MODULES) - {KUBERNETES_MODULE}:
        text = changed[ROOT / folder / "go.mod"]
        assert "k8s.io/apimachinery v0.99.3" in text
        assert published not in text


def test_every_module_of_kubernetes_is_changed() -> None:
    modules = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("bench", "tests", "tools")
        for path in ROOT.glob(f"{top}/**/go.mod")
        if re.search(r"\sk8s\.io/(api|kubernetes) ", path.read_text(encoding="utf-8"))
    }

    assert set(MODULES) == modules


def test_a_text_that_is_not_as_expected_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"tools/assets.py does not have this text once"):
        edits(ROOT, "v1.1.1", "v1.2.0")


@pytest.mark.parametrize(
    ("new", "tested"),
    [
        ("v1.38.0", ["v1.36.4", "v1.37.1", "v1.38.0"]),
        ("v1.37.2", ["v1.35.8", "v1.36.4", "v1.37.2"]),
    ],
)
def test_the_newest_three_minor_versions_are_tested(new: str, tested: list[str]) -> None:
    assert versions_to_test(["v1.35.8", "v1.36.4", "v1.37.1"], new) == tested


def test_the_pinned_version_is_tested_with_the_two_before_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    versions = re.findall(
        r"v1\.(\d+)\.\d+", makefile.partition("VERSIONS ?= ")[2].partition("\n")[0]
    )
    minor = int(KUBERNETES.split(".")[1])

    assert [int(each) for each in versions] == [minor - 2, minor - 1, minor]
    assert f" {KUBERNETES}\n" in makefile
