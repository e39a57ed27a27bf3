"""The writes of the server as tuples of steps."""

from __future__ import annotations

import inspect

import pytest

from kubeloop_testing.server.verbs import steps, writing
from kubeloop_testing.server.verbs.writing import Steps

WRITES = {
    name: getattr(writing, name) for name in writing.__all__ if name.isupper()
}  # fmt: skip


def names(write: Steps) -> list[str]:
    return [step.__name__ for step in write]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_each_step_of_a_write_has_a_sentence_about_its_rule(write: Steps) -> None:
    assert [step.__name__ for step in write if not (inspect.getdoc(step) or "").strip()] == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_each_write_stores_in_its_last_step_and_only_there(write: Steps) -> None:
    stores = [step.__name__ for step in write if step in {steps.store_new, steps.store_update}]

    assert stores == [write[-1].__name__]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_webhooks_see_an_object_that_plugins_and_the_strategy_have_changed(write: Steps) -> None:
    prepared = max(write.index(step) for step in write if step.__name__.startswith("prepare_"))

    assert prepared < write.index(steps.mutate_by_webhooks) < write.index(steps.validate)


def test_a_write_of_status_differs_from_an_update_only_in_what_prepares() -> None:
    update = names(writing.UPDATE)
    at = update.index("prepare_update")
    update[at : at + 2] = ["prepare_part"]

    assert names(writing.STATUS) == update


def test_a_patch_is_an_update_after_its_own_decoding() -> None:
    after = writing.PATCH[writing.PATCH.index(steps.check_uid) + 1 :]

    assert after == writing.UPDATE[writing.UPDATE.index(steps.match_path) + 1 :]


@pytest.mark.parametrize(
    "write", [writing.APPLY, writing.APPLY_STATUS, writing.CREATE_BY_APPLY, writing.SCALE]
)
def test_the_managed_fields_of_an_apply_are_not_tracked_again(write: Steps) -> None:
    assert steps.track_fields not in write


def test_every_step_belongs_to_a_write() -> None:
    used = {step for write in WRITES.values() for step in write}
    defined = {
        step
        for name, step in inspect.getmembers(steps, inspect.isfunction)
        if step.__module__ == steps.__name__ and not name.startswith("_")
    }

    assert defined - used == {steps.dry_run_entry}
