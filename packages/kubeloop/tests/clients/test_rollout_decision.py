"""When a rollout is complete, in kubectl's words (`test_kubectl_verbs` asks kubectl)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients import RolloutProblem, rollout_status
from kubeloop.clients.rollout_decision import pod_problems
from kubeloop.errors import InvalidArgument
from kubeloop.wire.apps.v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
from kubeloop.wire.core.v1 import Pod

COUNT = st.integers(0, 5)


def a_deployment(desired: int, generation: int = 1, **status: Any) -> Deployment:
    return Deployment.from_dict(
        {
            "metadata": {"name": "web", "generation": generation},
            "spec": {"replicas": desired},
            "status": {"observedGeneration": 1, **status},
        }
    )


@pytest.mark.parametrize(
    ("status", "state", "message"),
    [
        (
            {},
            "waiting",
            (
                'Waiting for deployment "web" rollout to finish: 0 out of 2 new replicas have been'
                " updated..."
            ),
        ),
        (
            {"replicas": 3, "updatedReplicas": 2, "availableReplicas": 3},
            "waiting",
            (
                'Waiting for deployment "web" rollout to finish: 1 old replicas are pending'
                " termination..."
            ),
        ),
        (
            {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1},
            "waiting",
            (
                'Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are'
                " available..."
            ),
        ),
        (
            {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2},
            "complete",
            'deployment "web" successfully rolled out',
        ),
        (
            {"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]},
            "failed",
            'deployment "web" exceeded its progress deadline',
        ),
    ],
)
def test_a_deployment_is_described_as_by_kubectl(
    status: dict[str, Any], state: str, message: str
) -> None:
    found = rollout_status(a_deployment(2, **status))

    assert (found.state, found.message) == (state, message)


def test_a_status_of_an_older_spec_is_not_complete() -> None:
    done = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}

    found = rollout_status(a_deployment(2, generation=2, **done))

    assert (found.state, found.observed) == ("waiting", False)
    assert found.message == "Waiting for deployment spec update to be observed..."


@given(desired=COUNT, replicas=COUNT, updated=COUNT, available=COUNT, generation=st.integers(1, 2))
def test_a_deployment_is_complete_only_if_every_pod_is_new_and_available(
    desired: int, replicas: int, updated: int, available: int, generation: int
) -> None:
    obj = a_deployment(
        desired,
        generation,
        replicas=replicas,
        updatedReplicas=updated,
        availableReplicas=available,
    )

    found = rollout_status(obj)

    complete = generation == 1 and updated >= desired and replicas <= updated <= available
    assert found.is_complete == complete
    assert (found.desired, found.replicas, found.updated) == (desired, replicas, updated)


@given(desired=COUNT, updated=COUNT, available=COUNT, generation=st.integers(1, 2))
def test_a_daemon_set_is_complete_only_if_every_node_has_a_new_and_available_pod(
    desired: int, updated: int, available: int, generation: int
) -> None:
    obj = DaemonSet.from_dict(
        {
            "metadata": {"name": "agent", "generation": generation},
            "spec": {"updateStrategy": {"type": "RollingUpdate"}},
            "status": {
                "observedGeneration": 1,
                "desiredNumberScheduled": desired,
                "updatedNumberScheduled": updated,
                "numberAvailable": available,
            },
        }
    )

    found = rollout_status(obj)

    assert found.is_complete == (generation == 1 and updated >= desired and available >= desired)


@given(
    desired=COUNT,
    ready=COUNT,
    updated=COUNT,
    available=COUNT,
    partition=st.none() | COUNT,
    min_ready=st.sampled_from([None, 10]),
    moved=st.booleans(),
)
def test_a_stateful_set_is_complete_only_if_every_pod_is_ready_and_new_above_the_partition(
    desired: int,
    ready: int,
    updated: int,
    available: int,
    *,
    partition: int | None,
    min_ready: int | None,
    moved: bool,
) -> None:
    strategy: dict[str, Any] = {"type": "RollingUpdate"}
    if partition is not None:
        strategy["rollingUpdate"] = {"partition": partition}
    spec = {"replicas": desired, "updateStrategy": strategy, "minReadySeconds": min_ready}
    obj = StatefulSet.from_dict(
        {
            "metadata": {"name": "db", "generation": 1},
            "spec": {key: value for key, value in spec.items() if value is not None},
            "status": {
                "observedGeneration": 1,
                "readyReplicas": ready,
                "updatedReplicas": updated,
                "availableReplicas": available,
                "currentRevision": "db-1",
                "updateRevision": "db-1" if moved else "db-2",
            },
        }
    )

    found = rollout_status(obj)

    is_new = moved if partition is None else updated >= desired - partition
    is_available = min_ready is None or available >= desired
    assert found.is_complete == (ready >= desired and is_new and is_available)


def test_a_rollout_that_nothing_reports_is_an_error() -> None:
    obj = StatefulSet.from_dict(
        {"metadata": {"name": "db"}, "spec": {"updateStrategy": {"type": "OnDelete"}}}
    )

    with pytest.raises(InvalidArgument, match="only available for RollingUpdate strategy type"):
        rollout_status(obj)
    with pytest.raises(InvalidArgument, match="expected a Deployment"):
        rollout_status(ReplicaSet.from_dict({"metadata": {"name": "web"}}))  # type: ignore[arg-type] # the rule


def test_a_paused_deployment_and_one_without_quota_tell_why_nothing_happens() -> None:
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": "exceeded quota: pods",
    }
    obj = a_deployment(2, conditions=[failure])
    obj.spec.paused = True

    found = rollout_status(obj, [RolloutProblem("ImagePullBackOff", "no such image", "web-1", "c")])

    assert found.paused
    assert str(found) == (
        'Waiting for deployment "web" rollout to finish: 0 out of 2 new replicas have been'
        " updated...; Paused: resume it to continue the rollout; FailedCreate: exceeded quota:"
        " pods; pod web-1: c: ImagePullBackOff: no such image"
    )


def test_a_text_has_the_first_three_problems_and_their_number() -> None:
    problems = [RolloutProblem("ImagePullBackOff", pod=f"web-{number}") for number in range(5)]

    text = str(rollout_status(a_deployment(5), problems))

    assert text.endswith("; pod web-2: ImagePullBackOff; 2 more")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, []),
        ({"containerStatuses": [{"name": "c", "state": {"running": {}}}]}, []),
        (
            {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}]},
            [],
        ),
        (
            {
                "containerStatuses": [
                    {
                        "name": "c",
                        "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}},
                    }
                ]
            },
            ["pod web-1: c: ErrImagePull: not found"],
        ),
        (
            {"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 3}}}]},
            ["pod web-1: i: Error: exit code 3"],
        ),
        ({"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 0}}}]}, []),
        (
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/3 nodes are available",
                    }
                ]
            },
            ["pod web-1: Unschedulable: 0/3 nodes are available"],
        ),
        ({"phase": "Failed", "reason": "Evicted"}, ["pod web-1: Evicted"]),
    ],
)  # fmt: skip
def test_a_pod_tells_what_it_waits_for(status: dict[str, Any], expected: list[str]) -> None:
    pod = Pod.from_dict({"metadata": {"name": "web-1"}, "status": status})

    assert [str(each) for each in pod_problems(pod)] == expected


def test_a_pod_that_is_being_deleted_has_no_problems() -> None:
    pod = Pod.from_dict(
        {
            "metadata": {"name": "web-1", "deletionTimestamp": "2030-01-01T00:00:00Z"},
            "status": {"phase": "Failed", "reason": "Evicted"},
        }
    )

    assert pod_problems(pod) == ()
