"""Options: what is rejected before a request, what is sent."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients import ListOptions, WatchOptions
from kubeloop.clients.options import delete_options, write_params
from kubeloop.errors import InvalidArgument
from kubeloop.selectors import NOTHING, Label


@pytest.mark.parametrize(
    "options",
    [
        {"resource_version_match": "Exact"},
        {"resource_version_match": "NotOlderThan", "resource_version": "5", "next_page": "t"},
        {"resource_version_match": "Exact", "resource_version": "0"},
        {"resource_version_match": "Roughly", "resource_version": "5"},
        {"limit": -1},
    ],
)
def test_list_options_that_contradict_each_other_are_rejected(options: dict[str, Any]) -> None:
    """TYP-13: the server accepts these list options only in these combinations."""
    with pytest.raises(InvalidArgument):
        ListOptions(**options)


def test_selectors_are_what_people_write_and_are_sent_in_the_apis_form() -> None:
    """TYP-12: list options: labelSelector, fieldSelector, watch, allowWatchBookmarks."""
    options = ListOptions.of(
        selector=Label("app").in_("b", "a"), field_selector={"metadata.name": "a"}
    )

    assert options.params() == {
        "labelSelector": "app in (a,b)",
        "fieldSelector": "metadata.name=a",
    }


@pytest.mark.parametrize("selection", ["a in", "a==b==c", NOTHING])
def test_a_selector_that_cannot_be_sent_is_never_everything(selection: Any) -> None:
    with pytest.raises(InvalidArgument):
        ListOptions.of(selector=selection)


@pytest.mark.parametrize("selection", [["app=web"], 7, ("a", "b")])
def test_what_is_not_a_selector_at_all_is_named(selection: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"label selector .*expected text"):
        ListOptions.of(selector=selection)
    with pytest.raises(InvalidArgument, match=r"field selector .*expected text"):
        WatchOptions.of(field_selector=selection)


def test_a_zero_that_was_set_is_sent() -> None:
    """TYP-C2: `timeoutSeconds=0` explicitly set is sent."""
    assert ListOptions(timeout_seconds=0).params() == {"timeoutSeconds": "0"}
    assert ListOptions().params() == {}
    assert delete_options(grace_period=0)["gracePeriodSeconds"] == 0


def test_a_watch_says_a_match_only_with_initial_events() -> None:
    """TYP-13, TYP-C10: the server accepts these list options only in these combinations."""
    assert "resourceVersionMatch" not in WatchOptions(resource_version="5").params()
    assert WatchOptions(initial_events=True).params()["resourceVersionMatch"] == "NotOlderThan"
    assert "allowWatchBookmarks" not in WatchOptions(bookmarks=False).params()


@pytest.mark.parametrize(
    "options",
    [
        {"propagation": "Foreground", "orphan_dependents": True},
        {"propagation": "Later"},
    ],
)
def test_delete_options_that_no_server_takes_are_rejected(options: dict[str, Any]) -> None:
    """TYP-10: delete options: gracePeriodSeconds, preconditions {uid, resourceVersion}."""
    with pytest.raises(InvalidArgument):
        delete_options(**options)


def test_every_delete_option_has_its_place() -> None:
    """TYP-10: delete options: gracePeriodSeconds, preconditions {uid, resourceVersion}."""
    assert delete_options(orphan_dependents=False, ignore_store_read_error=True) == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "orphanDependents": False,
        "ignoreStoreReadErrorWithClusterBreakingPotential": True,
    }


@pytest.mark.parametrize("manager", ["x" * 129, "a\nb"])
def test_a_field_manager_is_short_and_printable(manager: str) -> None:
    """TYP-5: Apply: PATCH with `application/apply-patch+yaml` whose body is JSON."""
    with pytest.raises(InvalidArgument):
        write_params(field_manager=manager)


def test_field_validation_is_one_of_three() -> None:
    """TYP-11: Create/update/patch options: dryRun, fieldManager, fieldValidation."""
    assert write_params(field_validation="Warn") == {"fieldValidation": "Warn"}
    with pytest.raises(InvalidArgument):
        write_params(field_validation="Sometimes")  # type: ignore[arg-type] # the point
