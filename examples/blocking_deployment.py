"""Create, scale, update, restart and delete a Deployment, without asyncio.

    python examples/blocking_deployment.py

It uses the namespace of the current context, and deletes what it creates.
"""

from __future__ import annotations

from datetime import UTC, datetime

from kubeloop.blocking import Client, ResourceClient
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import Container, ContainerPort, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta

NAME = "example-web"
LABELS = {"app": NAME}
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"  # the annotation that kubectl uses


def main() -> None:
    with Client() as client:
        deployments = client.apps_v1.deployments()
        deployments.create(web(image="nginx:1.28"))
        try:
            wait_for_rollout(deployments, "created")

            deployments.scale.set(NAME, 3)
            wait_for_rollout(deployments, "scaled to 3")

            set_image(deployments, "nginx:1.29")
            wait_for_rollout(deployments, "new image")

            restart(deployments)
            wait_for_rollout(deployments, "restarted")
        finally:
            deployments.delete(NAME, propagation="Foreground")
        deployments.wait_for(NAME, deleted=True)
        print("deleted")


def web(*, image: str) -> Deployment:
    container = Container(name="web", image=image, ports=[ContainerPort(container_port=80)])
    return Deployment(
        metadata=ObjectMeta(name=NAME, labels=LABELS),
        spec=DeploymentSpec(
            replicas=1,
            selector=LabelSelector(match_labels=LABELS),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=LABELS), spec=PodSpec(containers=[container])
            ),
        ),
    )


def set_image(deployments: ResourceClient[Deployment], image: str) -> None:
    """Like `kubectl set image`; sends the difference when the block ends."""
    with deployments.edit(NAME) as deployment:
        deployment.spec.template.spec.containers[0].image = image


def restart(deployments: ResourceClient[Deployment]) -> None:
    """Like `kubectl rollout restart`: a changed template creates new pods."""
    with deployments.edit(NAME) as deployment:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        deployment.spec.template.metadata.annotations[RESTARTED_AT] = now


def wait_for_rollout(deployments: ResourceClient[Deployment], what: str) -> None:
    """Wait as `kubectl rollout status` does, then print the result."""
    done = deployments.wait_for(NAME, function=is_rolled_out, timeout=300)
    image = done.spec.template.spec.containers[0].image
    print(f"{what}: {done.status.available_replicas} of {done.spec.replicas} run {image}")


def is_rolled_out(deployment: Deployment) -> bool:
    """Whether the controller has seen the newest spec, and all pods are new and available."""
    desired, status = deployment.spec.replicas, deployment.status
    counts = (status.updated_replicas, status.replicas, status.available_replicas)
    return status.observed_generation == deployment.metadata.generation and all(
        (count or 0) == desired
        for count in counts  # the API leaves out a count of zero
    )


if __name__ == "__main__":
    main()
