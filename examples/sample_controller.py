"""A controller for a Foo that owns a Deployment: it sets the status of the Foo and records events.

    python examples/sample_controller.py

It installs the kind Foo from the class below. If you run it twice, only the process that
holds the lease `sample-controller` works. Ctrl-C stops it after the running reconciles.
"""

from __future__ import annotations

from kubeloop import Context, Manager, Model, ObjectKey, Resource, TerminalError, run
from kubeloop.wire import Column
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta


class FooSpec(Model):
    deployment_name: str
    replicas: int = 1


class FooStatus(Model):
    available_replicas: int = 0


class Foo(
    Resource,
    group="samplecontroller.example.com",
    version="v1alpha1",
    plural="foos",
    columns=(Column("Available", ".status.availableReplicas", type="integer"),),
):
    spec: FooSpec
    status: FooStatus | None = None


manager = Manager(leader_election="sample-controller")


@manager.controller(Foo, owns=[Deployment], workers=2, install_crd=True)
async def reconcile(key: ObjectKey, ctx: Context) -> None:
    """Reconcile one Foo; called when it or its Deployment has changed."""
    foo = ctx.get(Foo, key)  # a copy from the cache
    if foo is None:
        return  # it was deleted; the server deletes what it owned
    if foo.spec.replicas < 0:
        raise TerminalError("spec.replicas: must not be negative")  # a retry cannot help

    desired = deployment_for(foo)
    existing = ctx.get(Deployment, ObjectKey(key.namespace, foo.spec.deployment_name))
    await ctx.client.apply(desired, owner=foo)
    if existing is None:
        ctx.recorder.event(foo, "Normal", "Created", "created %s", desired.metadata.name)

    available = (existing.status.available_replicas if existing is not None else None) or 0
    foo.status = FooStatus(available_replicas=available)
    await ctx.update_status(foo)  # sends nothing if nothing changed
    ctx.log.info("%d of %d available", available, foo.spec.replicas)


def deployment_for(foo: Foo) -> Deployment:
    labels = {"app": "nginx", "controller": foo.metadata.name}
    pod = PodSpec(containers=[Container(name="nginx", image="nginx:1.29")])
    return Deployment(
        metadata=ObjectMeta(name=foo.spec.deployment_name),
        spec=DeploymentSpec(
            replicas=foo.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
        ),
    )


if __name__ == "__main__":
    run(manager.run())
