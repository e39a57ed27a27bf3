"""Merge rules of a Deployment-like type, as the tests of patches need them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from kubeloop.wire.facts import NO_FACTS, FieldFacts, TypeFacts


class TableFacts(msgspec.Struct, frozen=True):
    """Facts from a table: field name to its rules and the type inside it."""

    fields: Mapping[str, tuple[FieldFacts, "TableFacts | None"]]

    def field(self, name: str) -> FieldFacts:
        return self.fields.get(name, (NO_FACTS, None))[0]

    def inside(self, name: str) -> TypeFacts | None:
        return self.fields.get(name, (NO_FACTS, None))[1]


def merged(key: str = "", *, retain: bool = False) -> FieldFacts:
    strategies = ("merge", "retainKeys") if retain else ("merge",)
    return FieldFacts(patch_strategies=strategies, patch_merge_key=key)


NOTHING = TableFacts({})
CONTAINER = TableFacts(
    {
        "env": (merged("name"), NOTHING),
        "ports": (merged("containerPort"), NOTHING),
        "volumeMounts": (merged("mountPath"), NOTHING),
        "resources": (NO_FACTS, NOTHING),
    }
)
POD_SPEC = TableFacts(
    {
        "containers": (merged("name"), CONTAINER),
        "initContainers": (merged("name"), CONTAINER),
        "volumes": (merged("name", retain=True), NOTHING),
        "imagePullSecrets": (merged("name"), NOTHING),
        "hostAliases": (merged("ip"), NOTHING),
        "tolerations": (NO_FACTS, NOTHING),
        "securityContext": (FieldFacts(patch_strategies=("replace",)), NOTHING),
    }
)
METADATA = TableFacts(
    {
        "finalizers": (merged(), None),
        "ownerReferences": (merged("uid"), NOTHING),
        "labels": (NO_FACTS, None),
    }
)
TEMPLATE = TableFacts({"metadata": (NO_FACTS, METADATA), "spec": (NO_FACTS, POD_SPEC)})
DEPLOYMENT = TableFacts(
    {
        "metadata": (NO_FACTS, METADATA),
        "spec": (
            NO_FACTS,
            TableFacts(
                {
                    "template": (NO_FACTS, TEMPLATE),
                    "strategy": (FieldFacts(patch_strategies=("retainKeys",)), NOTHING),
                }
            ),
        ),
        "status": (NO_FACTS, TableFacts({"conditions": (merged("type"), NOTHING)})),
        # An invalid schema: a merge list of objects without a merge key.
        "keyless": (merged(), NOTHING),
    }
)


@pytest.fixture(scope="session")
def deployment() -> TypeFacts:
    return DEPLOYMENT


@pytest.fixture(scope="session")
def pod_spec() -> TypeFacts:
    return POD_SPEC


@pytest.fixture(scope="session")
def metadata() -> TypeFacts:
    return METADATA
