"""What a Secret holds never leaves the process."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubeloop.cache import Scope
from kubeloop.inspector.masking import LAST_APPLIED, Mask, is_of_secrets

from .shop import PASSWORD


def a_secret(**more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "database",
            "uid": "1",
            "labels": {"app": "shop"},
            "annotations": {LAST_APPLIED: f'{{"data":"{PASSWORD}"}}', "helm": PASSWORD},
        },
        "data": {"password": PASSWORD, "user": PASSWORD},
        "stringData": {"plain": PASSWORD},
        "type": "Opaque",
        **more,
    }


def text(found: object) -> str:
    return msgspec.json.encode(found).decode()


def test_the_keys_of_a_secret_are_shown_and_the_values_hidden() -> None:
    shown = Mask().masked(a_secret())

    assert PASSWORD not in text(shown)
    assert shown["data"].keys() == {"password", "user"}
    assert shown["metadata"]["labels"] == {"app": "shop"}
    assert (shown["kind"], shown["type"]) == ("Secret", "Opaque")


def test_a_field_of_secrets_that_nobody_knows_yet_is_hidden() -> None:
    shown = Mask().masked(a_secret(dataToCome=[{"value": PASSWORD}], immutable=True))

    assert PASSWORD not in text(shown)
    assert shown["immutable"] is True


def test_an_object_that_does_not_say_what_it_is_is_hidden_by_its_cache() -> None:
    unnamed = {key: value for key, value in a_secret().items() if key != "kind"}

    assert PASSWORD not in text(Mask().masked(unnamed, is_secret=True))


def test_a_secret_inside_of_another_object_is_hidden() -> None:
    template = {"kind": "Bundle", "spec": {"manifests": [{"object": a_secret()}]}}

    assert PASSWORD not in text(Mask().masked(template))


def test_the_copy_that_kubectl_leaves_is_hidden_in_every_kind() -> None:
    config = {"kind": "ConfigMap", "metadata": {"annotations": {LAST_APPLIED: PASSWORD}}}

    assert PASSWORD not in text(Mask().masked(config))


def test_other_kinds_are_shown_as_they_are() -> None:
    config = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"colour": "blue"}}

    assert Mask().masked(config) == config


def test_marks_tell_whether_a_value_changed() -> None:
    mask = Mask()

    first, same, other = (
        mask.masked(a_secret(data={"password": value}))["data"]["password"]
        for value in ("old", "old", "new")
    )

    assert first == same
    assert first != other


def test_marks_tell_nothing_about_values_of_other_places() -> None:
    shown = Mask().masked(a_secret())

    assert shown["data"]["password"] != shown["data"]["user"]
    assert Mask().masked(a_secret())["data"] != shown["data"], "nor to other processes"


@pytest.mark.parametrize(
    ("scope", "secret"),
    [
        (Scope("secrets", kind="Secret"), True),
        (Scope("secrets"), True),  # metadata only
        (Scope("Secret"), True),  # a kind that has still to be looked up
        (Scope("secrets.example.com"), True),
        (Scope("configmaps", kind="ConfigMap"), False),
        (Scope("externalsecrets.example.com", kind="ExternalSecret"), False),
    ],
)
def test_the_cache_knows_whether_it_holds_secrets(scope: Scope, secret: bool) -> None:
    assert is_of_secrets(scope) is secret
