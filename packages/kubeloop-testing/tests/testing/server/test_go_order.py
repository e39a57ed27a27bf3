"""Objects are written with their keys in Go's order, and nothing else is changed."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from kubeloop_testing.server.values.go_order import encode_object, spec_text


def test_fields_of_structs_keep_their_order_and_keys_of_maps_are_sorted() -> None:
    service = {
        "status": {"loadBalancer": {}},
        "spec": {"selector": {"b": "1", "a": "1"}, "ports": [{"port": 80, "name": "web"}]},
        "metadata": {"labels": {"b": "1", "B": "1"}, "name": "web"},
    }

    text = encode_object(service, "v1", "Service")

    assert text == (
        b'{"metadata":{"name":"web","labels":{"B":"1","b":"1"}},'
        b'"spec":{"ports":[{"name":"web","port":80}],"selector":{"a":"1","b":"1"}},'
        b'"status":{"loadBalancer":{}}}'
    )


def test_a_spec_may_be_a_text_already() -> None:
    spec = {"selector": {"b": "1", "a": "1"}}
    text = spec_text(spec, "v1", "Service")

    written = encode_object({"spec": msgspec.Raw(text)}, "v1", "Service")

    assert written == encode_object({"spec": spec}, "v1", "Service")


def test_values_that_go_keeps_as_text_keep_their_order() -> None:
    schema = {"type": "object", "properties": {"z": {"default": {"z": 1, "a": 2}}, "a": {}}}
    crd = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}, "name": "v1"}]}}

    text = encode_object(crd, "apiextensions.k8s.io/v1", "CustomResourceDefinition")

    assert text == (
        b'{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object",'
        b'"properties":{"a":{},"z":{"default":{"z":1,"a":2}}}}}}]}}'
    )


def test_an_object_that_does_not_match_its_type_loses_nothing() -> None:
    odd: list[dict[str, Any]] = [
        {"unknown": 1, "metadata": {"name": "a"}},
        {"metadata": {"labels": ["a"]}},
        {"spec": 5},
        {"spec": {"ports": [None, {"port": None}]}, "status": None},
    ]
    for obj in odd:
        assert json.loads(encode_object(obj, "v1", "Service")) == obj
