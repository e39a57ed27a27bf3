"""What the server serves: `api-resources`, `api-versions` and `explain`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.meta import GroupVersionKind
from kubeloop.wire import InvalidArgument
from kubeloop_cli.explain import Explanation, wrap
from kubeloop_cli.failures import CommandFailed

from .conftest import Call

# --- api-resources and api-versions


def test_resources_are_listed_with_short_names_and_kinds(kubeloop: Call) -> None:
    header, *rows = kubeloop("api-resources").stdout.splitlines()

    assert header.split() == ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in map(str.split, rows)
    assert rows[0].split()[0] == "bindings", "the core group comes first"


@pytest.mark.parametrize(
    ("arguments", "inside", "outside"),
    [
        (["--namespaced"], "pods", "nodes"),
        (["--namespaced=false"], "nodes", "pods"),
        (["--api-group", "apps"], "deployments.apps", "pods"),
        (["--api-group="], "pods", "deployments.apps"),
        (["--verbs", "list,watch"], "pods", "bindings"),
        (["--verbs", "list", "--verbs", "watch"], "pods", "bindings"),
        (["--categories", "all"], "pods", "configmaps"),
    ],
)
def test_resources_can_be_selected(
    kubeloop: Call, arguments: list[str], inside: str, outside: str
) -> None:
    names = kubeloop("api-resources", "-o", "name", *arguments).stdout.splitlines()

    assert inside in names
    assert outside not in names


def test_resources_can_be_sorted_by_kind(kubeloop: Call) -> None:
    rows = kubeloop("api-resources", "--sort-by", "kind", "--no-headers").stdout.splitlines()

    kinds = [row.split()[-1] for row in rows]
    assert kinds == sorted(kinds)


def test_versions_are_sorted(kubeloop: Call) -> None:
    versions = kubeloop("api-versions").stdout.splitlines()

    assert versions == sorted(versions)
    assert {"v1", "apps/v1"} <= set(versions)


# --- explain

SCHEMAS: dict[str, Any] = {
    "com.example.v1.Site": {
        "description": "A site of the shop.",
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "description": "What is wanted.",
                "allOf": [{"$ref": "#/components/schemas/com.example.v1.SiteSpec"}],
            },
        },
        "x-kubernetes-group-version-kind": [
            {"group": "example.com", "version": "v1", "kind": "Site"}
        ],
    },
    "com.example.v1.SiteSpec": {
        "description": "SiteSpec describes a site.",
        "properties": {
            "mode": {"type": "string", "enum": ["", "B", "C", "D", "E"]},
            "parts": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/com.example.v1.SiteSpec"},
            },
            "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            "at": {"$ref": "#/components/schemas/io.k8s.Time"},
        },
    },
    "io.k8s.Time": {"type": "string", "format": "date-time"},
}
SITE = GroupVersionKind("example.com", "v1", "Site")


def test_a_kind_is_explained_with_its_fields() -> None:
    assert Explanation(SITE, SCHEMAS).text([]) == (
        "GROUP:      example.com\nKIND:       Site\nVERSION:    v1\n\n"
        "DESCRIPTION:\n    A site of the shop.\n    \n"
        "FIELDS:\n  spec\t<SiteSpec> -required-\n    What is wanted.\n\n\n"
    )


def test_a_schema_that_contains_itself_ends() -> None:
    text = Explanation(SITE, SCHEMAS).text(["spec"], recursive=True)

    assert text.partition("FIELDS:\n")[2] == (
        "  at\t<string>\n"
        '  mode\t<string>\n  enum: "", B, C, D, ....\n'
        "  parts\t<[]SiteSpec>\n"
        "  sizes\t<map[string]integer>\n\n"
    )


def test_a_field_is_explained_with_all_its_values() -> None:
    text = Explanation(SITE, SCHEMAS).text(["spec", "parts", "mode"])

    assert text.endswith(
        'FIELD: mode <string>\nENUM:\n    ""\n    B\n    C\n    D\n    E\n\n'
        "DESCRIPTION:\n    <empty>\n\n"
    )


def test_a_field_or_kind_without_a_description_is_an_error() -> None:
    with pytest.raises(CommandFailed, match="field 'nope' does not exist"):
        Explanation(SITE, SCHEMAS).text(["spec", "nope"])
    with pytest.raises(InvalidArgument, match="has no description of it"):
        Explanation(GroupVersionKind("", "v1", "Pod"), SCHEMAS)


def test_a_description_cannot_control_the_terminal() -> None:
    site = SCHEMAS["com.example.v1.Site"] | {"description": "\x1b[2Jgone", "properties": {}}

    text = Explanation(SITE, {"com.example.v1.Site": site}).text([])

    assert "\\x1b[2Jgone" in text


@given(st.text("ab \n", max_size=300))
def test_wrapping_changes_nothing_but_spaces(text: str) -> None:
    lines = wrap(text).split("\n")

    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) <= 76 or " " not in line.strip() for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["pod.spec.containers"], 0),
        (["deployments.apps.spec.strategy"], 0),
        (["hpa", "--api-version", "autoscaling/v1"], 0),
        (["pod", "--recursive", "--max-depth", "1"], 0),
        (["pod.nope"], 1),
        (["nothing"], 1),
        (["pod", "--api-version", "nothing/v1"], 2),
        (["pod", "--max-depth", "1"], 2),
    ],
)
def test_the_server_explains(kubeloop: Call, arguments: list[str], code: int) -> None:
    result = kubeloop("explain", *arguments)

    assert result.exit_code == code
    assert result.stderr.count("\n") == bool(code)
    assert result.stdout.count("DESCRIPTION:") == (not code)
