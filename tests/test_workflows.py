"""The workflows run the steps of `.ci/run`, with existing targets and supported Pythons."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.distributions import EXTRAS, PROJECTS, ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
TARGETS = set(
    re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)

Json = dict[str, Any]


def read(path: Path) -> Json:
    # BaseLoader reads `on` and 3.10 as text.
    found: Json = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return found


def jobs_in(path: Path) -> dict[str, Json]:
    found: dict[str, Json] = read(path)["jobs"]
    return found


def steps_in(path: Path) -> Iterator[Json]:
    for job in jobs_in(path).values():
        yield from job.get("steps", ())


def targets_in(text: str) -> set[str]:
    return set(re.findall(r"\bmake ([a-z-]+)", text))


CI = GITHUB / "workflows" / "ci.yml"
WEEKLY = GITHUB / "workflows" / "weekly.yml"
IN_CI = {target for step in steps_in(CI) for target in targets_in(step.get("run", ""))}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_make_of_a_workflow_is_a_target(path: Path) -> None:
    targets = {target for step in steps_in(path) for target in targets_in(step.get("run", ""))}

    assert targets <= TARGETS


def test_the_workflow_runs_every_step_of_the_script() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = set(re.findall(r"^(?:if .*; then )?step (?:\"\S+\" )?([a-z-]+)", script, re.MULTILINE))

    assert {"check", "test", "generate", "go-types", "test-assets", "dist"} <= steps
    assert steps <= IN_CI


def test_each_file_alone_and_random_orders_are_tested_every_week() -> None:
    (schedule,) = read(WEEKLY)["on"]["schedule"]
    targets = {target for step in steps_in(WEEKLY) for target in targets_in(step.get("run", ""))}

    assert schedule["cron"].split()[2:4] == ["*", "*"]
    assert schedule["cron"].split()[4].isdigit()
    assert targets == {"test-alone", "test-random"}


@pytest.mark.skipif(sys.platform == "win32", reason="make is not installed there")
@pytest.mark.parametrize(("target", "what"), [("demo", "the demo"), ("test", "the tests")])
def test_a_target_installs_only_what_it_needs(target: str, what: str, tmp_path: Path) -> None:
    for name in ("Makefile", "constraints.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())

    done = subprocess.run(
        ["make", "--dry-run", target],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert re.findall(r"setting up .venv for (.+?), once", done.stdout) == [what]
    assert ("requirements/dev.txt" in done.stdout) == (target == "test")


def test_the_tests_run_on_the_supported_pythons() -> None:
    (classifiers,) = {
        " ".join(each for each in project["classifiers"] if "Python ::" in each)
        for project in PROJECTS.values()
    }
    supported = re.findall(r"Python :: (3\.\d+)", classifiers)

    assert jobs_in(CI)["test"]["strategy"]["matrix"]["python"] == supported
    assert jobs_in(CI)["dist"]["strategy"]["matrix"]["python"] == [supported[0], supported[-1]]
    assert {project["requires-python"] for project in PROJECTS.values()} == {f">={supported[0]}"}
    page = (ROOT / "docs" / "reference" / "versioning.md").read_text(encoding="utf-8")
    assert f"| {', '.join(supported)} |" in page


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_time_limits_and_minimal_permissions(path: Path) -> None:
    for name, job in jobs_in(path).items():
        assert "uses" in job or int(job["timeout-minutes"]) > 0, name
    assert read(path)["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    used = [step["uses"] for step in steps_in(path) if "uses" in step]

    assert all(re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", action) for action in used), used


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_has_the_fields_that_github_requires(path: Path) -> None:
    form = read(path)
    fields = [part for part in form["body"] if part["type"] != "markdown"]

    assert form["name"]
    assert form["description"]
    assert all(part["attributes"]["label"] for part in fields)
    assert len({part["id"] for part in fields}) == len(fields)


def test_dependabot_updates_every_go_module() -> None:
    folders = [
        folder.strip("/")
        for update in read(GITHUB / "dependabot.yml")["updates"]
        for folder in update.get("directories", ())
    ]
    updated = {folder: set(ROOT.glob(f"{folder}/go.mod")) for folder in folders}
    modules = {
        path for top in ("bench", "tests", "tools") for path in ROOT.glob(f"{top}/**/go.mod")
    }

    assert all(updated.values()), updated
    assert set().union(*updated.values()) == modules


def test_a_release_publishes_the_archives_of_its_own_run() -> None:
    release = jobs_in(GITHUB / "workflows" / "release.yml")
    publish = release["publish"]
    used = [step.get("uses", "").partition("@")[0] for step in publish["steps"]]
    uploads = [step for step in steps_in(CI) if "upload-artifact" in step.get("uses", "")]

    assert release["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert publish["needs"] == "ci"
    # Archives are artifacts of the same run; the index authenticates the workflow by OIDC.
    assert "actions/download-artifact" in used
    assert [step["with"]["name"] for step in uploads].count("dist") == 1
    assert publish["permissions"]["id-token"] == "write"
    assert not any("build" in step.get("run", "") for step in publish["steps"])
    assert not any("password" in step.get("with", {}) for step in publish["steps"])


def test_dependencies_have_lower_bounds_only_and_constraints_are_pinned() -> None:
    required = [
        *itertools.chain.from_iterable(project["dependencies"] for project in PROJECTS.values()),
        *itertools.chain.from_iterable(EXTRAS.values()),
        *itertools.chain.from_iterable(
            path.read_text(encoding="utf-8").splitlines() for path in ROOT.glob("requirements/*")
        ),
    ]
    versions = [each.partition(";")[0].partition("#")[0].strip() for each in required]
    external = [each for each in versions if each and not each.startswith(("kubeloop", "-r "))]
    pins = [
        line
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]

    assert [each for each in external if not re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+", each)] == []
    assert [pin for pin in pins if not re.match(r"[\w.-]+==[\w.]+( ;|$)", pin)] == []
