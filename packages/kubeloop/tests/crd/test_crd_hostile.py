"""Hostile text of a definition never becomes code, and round trips lose nothing."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubeloop.crd import PRESERVE, crd_of, module_from_crd
from kubeloop.wire import InvalidArgument
from kubeloop.wire.naming import attribute, camel, class_name
from tests.crd.crd_modules import class_in, crd, foreign_code
from tests.crd.crd_schemas import JSON, TEXT, objects_for, schemas

# The Hypothesis profile sets the number of examples.
_PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _schema_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = crd_of(class_in(text)).to_dict()
    return found


@_PATIENT
@given(schemas())
def test_no_text_of_a_schema_becomes_code(schema: dict[str, Any]) -> None:
    text = module_from_crd(crd(schema))

    assert foreign_code(text) == []


@_PATIENT
@given(schemas())
def test_classes_express_the_whole_definition(schema: dict[str, Any]) -> None:
    """`crd_of` normalizes a schema once; a second round trip changes nothing."""
    first = _schema_of(module_from_crd(crd(schema)))
    again = _schema_of(module_from_crd(first))

    assert again == first
    found = first["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    for part in ("spec", "status"):
        assert _normalize(found[part]) == _normalize(schema["properties"][part])


def _normalize(schema: Any) -> Any:
    """The schema without differences that have no effect: order and default keywords."""
    if isinstance(schema, list):
        return [_normalize(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    normalized = {key: value for key, value in schema.items() if not _has_no_effect(key, value)}
    for key in ("items", "additionalProperties"):
        if key in normalized:
            normalized[key] = _normalize(normalized[key])
    if normalized.get("additionalProperties") == {PRESERVE: True}:  # a free-form map has two names
        normalized = {
            key: normalized[key] for key in normalized if key != "additionalProperties"
        } | {PRESERVE: True}
    if "properties" in normalized:
        normalized["properties"] = {
            key: _normalize(each) for key, each in normalized["properties"].items()
        }
    # A field with a default is never missing.
    required = [
        each
        for each in normalized.pop("required", [])
        if normalized["properties"].get(each, {}).get("default") is None
    ]
    return normalized | ({"required": sorted(required)} if required else {})


def _has_no_effect(key: str, value: Any) -> bool:
    return (
        (key == "nullable" and value is False)
        or (key == "default" and value is None)
        or (key in {"description", "title", "properties"} and not value)
        or (key == "x-kubernetes-validations" and not value)
        or key == "exclusiveMinimum"
    )


@_PATIENT
@given(st.data())
def test_objects_pass_through_generated_classes_unchanged(data: st.DataObject) -> None:
    schema = data.draw(schemas(defaults=False))
    spec = data.draw(objects_for(schema["properties"]["spec"]))
    website = class_in(module_from_crd(crd(schema)))
    sent = {"apiVersion": "example.com/v1", "kind": "Website", "spec": spec}

    assert website.from_dict(sent).to_dict() == sent


@_PATIENT
@given(st.sampled_from(["group", "kind", "plural", "version", "shortName", "column"]), TEXT)
def test_no_name_of_a_definition_becomes_code(place: str, text: str) -> None:
    data = crd({"type": "object", "properties": {"spec": {"type": "object"}}})
    spec, version = data["spec"], data["spec"]["versions"][0]
    match place:
        case "group":
            spec["group"] = text
        case "kind" | "plural":
            spec["names"][place] = text
        case "version":
            version["name"] = text
        case "shortName":
            spec["names"]["shortNames"] = spec["names"]["categories"] = [text]
        case _:
            column = {"name": text, "jsonPath": text, "type": text, "description": text}
            version["additionalPrinterColumns"] = [column]
            version["selectableFields"] = [{"jsonPath": text}]
    try:
        module = module_from_crd(data)
    except InvalidArgument:
        assert place not in {"shortName", "column"}
        return

    assert foreign_code(module) == []
    class_in(module)


@_PATIENT
@given(TEXT, JSON)
def test_any_name_of_a_field_is_refused_or_kept(wire: str, value: Any) -> None:
    inner = {"type": "object", "properties": {wire: {}}}
    try:
        module = module_from_crd(crd({"type": "object", "properties": {"spec": inner}}))
    except InvalidArgument:
        assert wire == "$extra" or any(character < " " or character in '"\\' for character in wire)
        return

    assert foreign_code(module) == []
    sent = class_in(module).from_dict({"spec": {wire: value}}).to_dict().get("spec")
    assert sent == ({wire: value} if value is not None else {})


@_PATIENT
@given(st.dictionaries(st.sampled_from(sorted({
    "type", "properties", "items", "additionalProperties", "required", "enum", "default",
    "description", "nullable", "format", "minimum", "maximum", "minLength", "multipleOf",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-int-or-string",
})), JSON | st.sampled_from(["object", "array", "string", "integer", {"type": "string"}])))  # fmt: skip
def test_any_data_at_all_is_refused_or_inert(schema: dict[str, Any]) -> None:
    try:
        module = module_from_crd(crd({"type": "object", "properties": {"spec": schema}}))
    except InvalidArgument:
        return

    assert foreign_code(module) == []
    class_in(module)


@given(JSON)
def test_any_data_instead_of_a_definition_is_refused(data: Any) -> None:
    with pytest.raises(InvalidArgument):
        module_from_crd(data if not isinstance(data, str) else {"kind": data})


@given(TEXT)
def test_descriptions_are_docstrings_that_read_back(text: str) -> None:
    module = module_from_crd(crd({"type": "object", "description": text}))

    (kind,) = (node for node in ast.parse(module).body if isinstance(node, ast.ClassDef))
    assert foreign_code(module) == []
    found = crd_of(class_in(module)).spec.versions[0].schema
    assert found is not None
    assert found.open_api_v3_schema is not None
    assert (found.open_api_v3_schema.description or "") == text
    assert len(kind.body) == 1


@given(TEXT)
def test_attributes_and_class_names_are_plain_identifiers(text: str) -> None:
    for name in (attribute(text), class_name(text)):
        assert name.isidentifier()
        assert name.isascii()
        ast.parse(f"{name if name[0].islower() else 'x'} = 1")
    assert camel("a_b") == "aB"
