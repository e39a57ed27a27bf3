"""What the server does not evaluate is accepted with a warning and a line in the log."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.server.conftest import MERGE, Api
from tests.testing.server.server_objects import DEFINITIONS, definition

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RULES = [{"rule": "self.size > 1"}]


def _definition_with_rules(**more: Any) -> dict[str, Any]:
    found = definition(**more)
    (version,) = found["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-validations"] = RULES
    spec["properties"]["list"] = {
        "type": "array",
        "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]},
    }
    return found


async def test_rules_of_a_schema_are_named_by_their_paths(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    reply = await api.create(DEFINITIONS, _definition_with_rules())

    assert len(reply.warnings) == 1
    assert "x-kubernetes-validations at spec, spec.list[]: " in reply.warnings[0]
    assert "does not evaluate CEL" in reply.warnings[0]
    assert "CustomResourceDefinition widgets.example.com: version v1 has" in caplog.text


async def test_an_update_warns_only_about_new_rules(api: Api) -> None:
    await api.create(DEFINITIONS, _definition_with_rules())
    labels = {"metadata": {"labels": {"a": "b"}}}

    reply = await api(
        "PATCH",
        f"{DEFINITIONS}/widgets.example.com",
        labels,
        headers={"Content-Type": MERGE},
    )

    assert reply.code == 200
    assert reply.warnings == []


async def test_a_conversion_webhook_is_never_called(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    crd = definition()
    crd["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": "https://127.0.0.1:1/convert", "caBundle": "eA=="},
            "conversionReviewVersions": ["v1"],
        },
    }

    reply = await api.create(DEFINITIONS, crd)

    assert len(reply.warnings) == 1
    assert "does not call conversion webhooks" in reply.warnings[0]
    assert "does not call conversion webhooks" in caplog.text


async def test_admission_policies_and_their_bindings_have_no_effect(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    policy = {
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "resources": ["deployments"],
                        "operations": ["CREATE"],
                    }
                ]
            },
            "validations": [{"expression": "false"}],
        },
    }
    binding = {
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]},
    }

    first = await api.create(f"{ADMISSION}/validatingadmissionpolicies", policy)
    second = await api.create(f"{ADMISSION}/validatingadmissionpolicybindings", binding)

    assert "does not evaluate CEL" in first.warnings[0]
    assert 'the policy \\"p\\" has no effect' in second.warnings[0]
    assert "ValidatingAdmissionPolicy p: " in caplog.text


async def test_match_conditions_of_a_webhook_are_named(api: Api) -> None:
    hook = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "not-me", "expression": "true"}],
    }

    reply = await api.create(
        f"{ADMISSION}/validatingwebhookconfigurations",
        {"metadata": {"name": "w"}, "webhooks": [hook]},
    )

    assert len(reply.warnings) == 1
    assert "webhooks[0].matchConditions (not-me)" in reply.warnings[0]


async def test_what_needs_no_evaluation_has_no_warning(api: Api) -> None:
    assert (await api.create(DEFINITIONS, definition())).warnings == []
