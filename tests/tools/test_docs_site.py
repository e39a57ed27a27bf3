"""The generated pages of the site."""

from __future__ import annotations

from pathlib import Path

import docs_site
import pytest

from kubeloop.cache import CACHE_METRIC_NAMES
from kubeloop.election import ELECTION_METRIC_NAMES
from kubeloop.rest import METRIC_NAMES
from kubeloop.runtime import RECONCILE_METRIC_NAMES

ROOT = Path(__file__).parents[2]
NAMES = (
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


@pytest.mark.parametrize(
    ("in_repository", "on_site"),
    [
        ("[layers](docs/architecture.md#layers)", "[layers](architecture.md#layers)"),
        ("[changes](CHANGELOG.md)", "[changes](changelog.md)"),
        ("[examples](examples)", "[examples](examples.md)"),
        ("[SemVer](https://semver.org)", "[SemVer](https://semver.org)"),
        ("[the tests](tests/conftest.py)", "the tests"),
    ],
)
def test_a_link_of_the_repository_works_on_the_site(in_repository: str, on_site: str) -> None:
    assert docs_site.page_of(f"See {in_repository}.") == f"See {on_site}."


def test_every_example_is_shown_completely() -> None:
    page = docs_site.examples()

    programs = sorted((ROOT / "examples").glob("*.py"))

    assert [path.name for path in programs if path.read_text("utf-8") not in page] == []


def test_an_error_is_listed_under_its_family_with_a_link_to_its_package() -> None:
    lines = docs_site.errors().splitlines()

    family = next(number for number, line in enumerate(lines) if "[`ConfigError`]" in line)
    first = lines[family + 1]

    assert first.startswith("        - [`CredentialError`][kubeloop.config.CredentialError] – ")


def test_every_metric_has_a_line() -> None:
    page = docs_site.metrics()

    assert [name for name in NAMES if f"| `{name}` |" not in page] == []


def test_kinds_are_listed_by_the_module_of_their_class() -> None:
    page = docs_site.kinds()

    apps = page.partition("## kubeloop.wire.apps.v1")[2].partition("\n## ")[0]

    assert "| `Deployment` | `deployments` | deploy | yes |" in apps


def test_a_marker_is_replaced_by_generated_text() -> None:
    text = docs_site.on_page_markdown("before\n\n<!-- generated: kinds -->\n\nafter")

    assert text == f"before\n\n{docs_site.kinds()}\n\nafter"
