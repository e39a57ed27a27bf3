"""`kubeloop get --watch` prints what `kubectl get --watch` prints."""

from __future__ import annotations

import json

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

from .conftest import Call, line_of, started, until

pytestmark = pytest.mark.timeout(60)

FOLLOW = ("get", "cm", "-n", "shop", "--watch")


@pytest.fixture
def paint(kube_blocking_client: Client) -> Client:
    """With a config map `paint`."""
    maps = kube_blocking_client.core_v1.config_maps("shop")
    maps.create(ConfigMap(metadata=ObjectMeta(name="paint"), data={"colour": "blue"}))
    return kube_blocking_client


def change(client: Client) -> None:
    with client.core_v1.config_maps("shop").edit("paint") as paint:
        paint.data["size"] = "big"


def test_changes_follow_the_list(environment: dict[str, str], paint: Client) -> None:
    with started(environment, *FOLLOW) as process:
        assert line_of(process).split() == ["NAME", "DATA", "AGE"]
        assert line_of(process).split()[:2] == ["paint", "1"]

        change(paint)

        assert line_of(process).split()[:2] == ["paint", "2"]


def test_the_type_of_a_change_is_the_first_column_if_asked(
    environment: dict[str, str], paint: Client
) -> None:
    with started(environment, *FOLLOW, "--output-watch-events") as process:
        assert line_of(process).startswith("EVENT      NAME ")
        assert line_of(process).startswith("ADDED      paint ")

        paint.core_v1.config_maps("shop").delete("paint")

        assert line_of(process).startswith("DELETED    paint ")


def test_a_column_becomes_wider_for_a_longer_cell(
    environment: dict[str, str], paint: Client
) -> None:
    with started(environment, *FOLLOW, "--no-headers") as process:
        assert line_of(process).startswith("paint   1 ")
        long = ConfigMap(metadata=ObjectMeta(name="a-long-name"))

        paint.core_v1.config_maps("shop").create(long)
        assert line_of(process).startswith("a-long-name   0 ")
        change(paint)

        assert line_of(process).startswith("paint         2 ")


def test_without_the_list_only_changes_are_printed(
    environment: dict[str, str], kube_server: APIServer, paint: Client
) -> None:
    arguments = ("get", "cm", "-n", "shop", "--watch-only", "-o", "name")
    with started(environment, *arguments) as process:
        until(lambda: any(seen.verb == "watch" for seen in kube_server.requests))
        change(paint)

        assert line_of(process) == "configmap/paint"


def test_objects_are_printed_one_after_the_other(
    environment: dict[str, str], paint: Client
) -> None:
    arguments = (*FOLLOW, "-o", "json", "--output-watch-events")
    with started(environment, *arguments) as process:
        first = json.loads(line_of(process))
        change(paint)
        second = json.loads(line_of(process))

    assert (first["type"], first["object"]["data"]) == ("ADDED", {"colour": "blue"})
    assert (second["type"], second["object"]["data"]["size"]) == ("MODIFIED", "big")


def test_documents_of_yaml_are_separated(environment: dict[str, str], paint: Client) -> None:
    with started(environment, *FOLLOW, "-o", "yaml") as process:
        assert line_of(process) == "apiVersion: v1"
        change(paint)
        lines = [line_of(process) for _ in range(12)]

    assert "---" in lines


def test_one_object_is_watched_by_its_name(environment: dict[str, str], paint: Client) -> None:
    with started(environment, "get", "cm/paint", "-n", "shop", "-w", "-o", "name") as process:
        assert line_of(process) == "configmap/paint"
        maps = paint.core_v1.config_maps("shop")
        maps.create(ConfigMap(metadata=ObjectMeta(name="other")))
        change(paint)

        assert line_of(process) == "configmap/paint"


@pytest.mark.parametrize("words", [["po,cm"], ["po", "web-1", "web-2"], ["po/web-1", "cm/paint"]])
def test_several_kinds_or_objects_cannot_be_watched(kubeloop: Call, words: list[str]) -> None:
    result = kubeloop("get", *words, "-n", "shop", "--watch")

    assert result.exit_code == 2
    assert "one resource type" in result.stderr


def test_an_object_that_does_not_exist_cannot_be_watched(kubeloop: Call) -> None:
    assert kubeloop("get", "cm", "gone", "-n", "shop", "--watch").exit_code == 1
