"""Who owns an object."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.errors import AlreadyOwned, InvalidArgument
from kubeloop.meta import (
    GroupVersionKind,
    add_owner,
    controller_of,
    controller_ref,
    is_controlled_by,
    owner_ref,
    remove_owner,
    set_controller,
)
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Namespace, Pod
from kubeloop.wire.meta.v1 import ObjectMeta, OwnerReference


def deployment(name: str = "web", *, uid: str = "u1", namespace: str = "shop") -> Deployment:
    return Deployment(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid))


def pod(*references: OwnerReference) -> Pod:
    metadata = ObjectMeta(name="web-1", namespace="shop", owner_references=list(references))
    return Pod(metadata=metadata)


def test_a_controller_reference_says_it_is_one_and_holds_up_deletion() -> None:
    """API-39: owner references."""
    assert controller_ref(deployment()).to_dict() == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": "u1",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def test_a_plain_reference_says_neither() -> None:
    """API-39: owner references."""
    reference = owner_ref(deployment())

    assert reference.controller is None
    assert reference.block_owner_deletion is None
    assert owner_ref(deployment(), block_deletion=True).block_owner_deletion is True


def test_an_owner_that_does_not_say_its_kind_takes_it_from_the_caller() -> None:
    owner = {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}}

    reference = controller_ref(owner, gvk=GroupVersionKind("example.com", "v1", "Website"))

    assert (reference.api_version, reference.kind) == ("example.com/v1", "Website")
    with pytest.raises(InvalidArgument, match="apiVersion, kind, name and uid"):
        controller_ref(owner)


def test_an_owner_without_uid_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="as the server returned it"):
        owner_ref(deployment(uid=""))


def test_the_controller_is_the_first_reference_that_says_so() -> None:
    """API-39: owner references."""
    first = OwnerReference(uid="u2", controller=True)
    owned = pod(OwnerReference(uid="u1", controller=False), first, OwnerReference(controller=True))

    assert controller_of(owned) is first
    assert controller_of(pod()) is None
    assert controller_of({"metadata": {}}) is None


def test_control_is_judged_by_uid_alone() -> None:
    """API-39: a new owner of the old name is not the controller."""
    owned = pod(controller_ref(deployment(uid="u1")))

    assert is_controlled_by(owned, deployment("renamed", uid="u1"))
    assert not is_controlled_by(owned, deployment(uid="u2"))
    assert not is_controlled_by(pod(), deployment())


def test_setting_the_controller_twice_changes_nothing() -> None:
    owned = pod()

    assert set_controller(owned, deployment()) is True
    assert set_controller(owned, deployment()) is False
    assert owned.metadata.owner_references == [controller_ref(deployment())]


def test_a_second_controller_is_refused() -> None:
    """API-39: at most one."""
    owned = pod()
    set_controller(owned, deployment(uid="u1"))

    with pytest.raises(AlreadyOwned, match="Deployment 'web' already is"):
        set_controller(owned, deployment("other", uid="u2"))
    assert len(owned.metadata.owner_references) == 1


def test_a_plain_reference_becomes_the_controllers() -> None:
    owned = pod(OwnerReference(uid="u0"))
    assert add_owner(owned, deployment()) is True

    assert set_controller(owned, deployment()) is True

    assert [each.uid for each in owned.metadata.owner_references] == ["u0", "u1"]
    assert is_controlled_by(owned, deployment())


def test_an_owner_is_added_once_and_keeps_the_role_it_has() -> None:
    owned = pod()
    set_controller(owned, deployment())

    assert add_owner(owned, deployment()) is False
    assert is_controlled_by(owned, deployment())
    assert add_owner(owned, deployment("other", uid="u2"), block_deletion=True) is True
    assert owned.metadata.owner_references[1].block_owner_deletion is True


def test_an_owner_that_is_removed_has_no_role_left() -> None:
    owned = pod(OwnerReference(uid="u0"))
    set_controller(owned, deployment())

    assert remove_owner(owned, deployment()) is True
    assert remove_owner(owned, deployment()) is False
    assert [each.uid for each in owned.metadata.owner_references] == ["u0"]


def test_an_owner_is_in_the_same_namespace_or_in_none() -> None:
    """API-39: owner references."""
    cluster_wide = Namespace(metadata=ObjectMeta(name="shop", uid="u9"))
    assert add_owner(pod(), cluster_wide) is True

    with pytest.raises(InvalidArgument, match="'shop', its owner 'web' in 'other'"):
        set_controller(pod(), deployment(namespace="other"))
    with pytest.raises(InvalidArgument, match="no namespace"):
        add_owner(cluster_wide, deployment())


def test_owners_of_a_dict_change_in_place_and_the_others_stay_as_they_are() -> None:
    stranger = {"uid": "u0", "newer": "than us"}
    obj: dict[str, Any] = {
        "metadata": {"name": "a", "namespace": "shop", "ownerReferences": [stranger]}
    }

    assert set_controller(obj, deployment()) is True
    assert set_controller(obj, deployment()) is False

    references = obj["metadata"]["ownerReferences"]
    assert references == [stranger, controller_ref(deployment()).to_dict()]
    assert is_controlled_by(obj, deployment())
    assert remove_owner(obj, deployment()) is True
    assert obj["metadata"]["ownerReferences"] == [stranger]
