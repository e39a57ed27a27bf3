"""The data of Secrets never leaves the process."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubeloop.cache import Scope
from kubeloop.inspector.masking import LAST_APPLIED, Mask, holds_secrets

from .pages import PASSWORD


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


def test_an_unknown_field_of_a_secret_is_hidden() -> None:
    shown = Mask().masked(a_secret(dataToCome=[{"value": PASSWORD}], immutable=True))

    assert PASSWORD not in text(shown)
    assert shown["immutable"] is True


def test_a_secret_without_a_kind_is_hidden_because_of_its_cache() -> None:
    unnamed = {key: value for key, value in a_secret().items() if key != "kind"}

    assert PASSWORD not in text(Mask().masked(unnamed, is_secret=True))


def test_a_secret_inside_another_object_is_hidden() -> None:
    template = {"kind": "Bundle", "spec": {"manifests": [{"object": a_secret()}]}}

    assert PASSWORD not in text(Mask().masked(template))


def test_the_annotation_of_kubectl_apply_is_hidden_in_every_kind() -> None:
    config = {"kind": "ConfigMap", "metadata": {"annotations": {LAST_APPLIED: PASSWORD}}}

    assert PASSWORD not in text(Mask().masked(config))


def test_other_kinds_are_shown_unchanged() -> None:
    config = {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"colour": "blue"}}

    assert Mask().masked(config) == config


def test_marks_show_whether_a_value_changed() -> None:
    mask = Mask()

    first, same, other = (
        mask.masked(a_secret(data={"password": value}))["data"]["password"]
        for value in ("old", "old", "new")
    )

    assert first == same
    assert first != other


def test_marks_of_different_paths_cannot_be_compared() -> None:
    shown = Mask().masked(a_secret())

    assert shown["data"]["password"] != shown["data"]["user"]
    assert Mask().masked(a_secret())["data"] != shown["data"], "nor of other processes"


@pytest.mark.parametrize(
    ("scope", "secret"),
    [
        (Scope("secrets", kind="Secret"), True),
        (Scope("secrets"), True),  # metadata only
        (Scope("Secret"), True),  # a kind before discovery
        (Scope("secrets.example.com"), True),
        (Scope("configmaps", kind="ConfigMap"), False),
        (Scope("externalsecrets.example.com", kind="ExternalSecret"), False),
    ],
)
def test_the_scope_of_a_cache_shows_whether_it_holds_secrets(scope: Scope, secret: bool) -> None:
    assert holds_secrets(scope) is secret
