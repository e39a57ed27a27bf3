"""`kubeloop create`: creates the objects of manifests, or one object of a common kind.

Guarantees: the objects are those that kubectl creates; with `--dry-run=client` nothing is sent.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import click

from kubeloop.errors import InvalidArgument
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.wire import resource_for

from .failures import ExitCode
from .flags import Flags, OptionalValueCommand, cluster_flags, connect, flags_of, pass_flags
from .kinds import find_kinds, parse_targets
from .outputs import Output
from .selection import manifest_flags
from .sources import (
    ObjectRef,
    Outcomes,
    Sources,
    in_manifests,
    outcome_flags,
    process_each,
    read_manifests,
    usage_error,
)

__all__ = ["create"]

Data = dict[str, bytes]


_ALIASES = {"cm": "configmap", "deploy": "deployment", "ns": "namespace", "sa": "serviceaccount"}


class _AliasedGroup(click.Group):
    """A group whose commands have kubectl's short names as well."""

    command_class = OptionalValueCommand

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, _ALIASES.get(cmd_name, cmd_name))


@click.group(cls=_AliasedGroup, invoke_without_command=True)
@manifest_flags
@outcome_flags
@cluster_flags
@click.pass_context
def create(ctx: click.Context, /, *, output: Output | None, dry_run: Any, **sources: Any) -> None:
    """Create the objects of manifests, or one object of a common kind.

    An object that exists is an error; `kubeloop apply` changes it.

    \b
    Examples:
      kubeloop create -f job.yaml
      kubeloop create deployment web --image=nginx --replicas=2
      kubeloop create configmap settings --from-literal=colour=blue
    """
    given = Sources(**sources)
    if ctx.invoked_subcommand is not None:
        if given.has_manifests:
            raise usage_error("manifests cannot be combined with a kind")
        return
    flags = flags_of(ctx)
    objects, code = read_manifests(flags, "create", given, generate_names=True)
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def main() -> ExitCode:
        async with connect(flags) as client:

            async def create_one(obj: dict[str, Any]) -> None:
                await _create(client, await in_manifests(client, flags, obj), obj, outcomes)

            return await process_each(flags, objects, create_one)

    ctx.exit(max(code, run(main()) if objects else code))


async def _create(client: Client, ref: ObjectRef, obj: dict[str, Any], outcomes: Outcomes) -> None:
    if outcomes.dry_run == "client":
        if ref.info.namespaced:
            metadata = {**obj["metadata"], "namespace": ref.namespace_in(client)}
            obj = {**obj, "metadata": metadata}
        created = obj
    else:
        created = await ref.client(client).create(obj, dry_run=outcomes.is_server_dry_run)
    outcomes.show(ref.info, created, "created")


def _create_generated(
    flags: Flags,
    outcomes: Outcomes,
    make: Callable[[Client], Awaitable[dict[str, Any]]] | dict[str, Any],
) -> None:
    """Create one object that was made from flags; a dry run may need no server at all."""

    async def main() -> None:
        if isinstance(make, dict) and outcomes.dry_run == "client":
            obj = make
        else:
            async with connect(flags) as client:
                obj = make if isinstance(make, dict) else await make(client)
                if outcomes.dry_run != "client":
                    resource = client.dynamic.resource(obj["apiVersion"], obj["kind"])
                    obj = await resource.create(obj, dry_run=outcomes.is_server_dry_run)
        group, _, version = obj["apiVersion"].rpartition("/")
        info = resource_for(group, version, obj["kind"])
        assert info is not None
        if flags.namespace and info.namespaced:
            obj = {**obj, "metadata": {"namespace": flags.namespace} | obj["metadata"]}
        outcomes.show(info, obj, "created")

    run(main())


def _outcomes(options: dict[str, Any]) -> Outcomes:
    return Outcomes(output=options.pop("output"), dry_run=options.pop("dry_run"))


# --- kinds


@create.command(short_help="Create a namespace.")
@click.argument("name")
@outcome_flags
@cluster_flags
@pass_flags
def namespace(flags: Flags, /, *, name: str, **options: Any) -> None:
    """Create a namespace.

    \b
    Examples:
      kubeloop create namespace shop
    """
    obj = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name},
        "spec": {},
        "status": {},
    }
    _create_generated(flags, _outcomes(options), obj)


@create.command(short_help="Create a service account.")
@click.argument("name")
@outcome_flags
@cluster_flags
@pass_flags
def serviceaccount(flags: Flags, /, *, name: str, **options: Any) -> None:
    """Create a service account.

    \b
    Examples:
      kubeloop create serviceaccount deployer -n shop
    """
    obj = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    _create_generated(flags, _outcomes(options), obj)


def _data_flags(command: Any) -> Any:
    for flag in (
        click.option(
            "--from-env-file", "env_files", metavar="FILE", multiple=True,
            help="A file with KEY=VALUE lines.",
        ),
        click.option(
            "--from-file", "data_files", metavar="[KEY=]PATH", multiple=True,
            help="A file, or all files of a directory; the key is the name of the file.",
        ),
        click.option(
            "--from-literal", "literals", metavar="KEY=VALUE", multiple=True, help="A value."
        ),
    ):  # fmt: skip
        command = flag(command)
    return command


@create.command(short_help="Create a config map.")
@click.argument("name")
@_data_flags
@outcome_flags
@cluster_flags
@pass_flags
def configmap(flags: Flags, /, *, name: str, **options: Any) -> None:
    """Create a config map from values and files.

    \b
    Examples:
      kubeloop create configmap settings --from-literal=colour=blue
      kubeloop create configmap site --from-file=index.html --from-file=css/
      kubeloop create configmap settings --from-env-file=.env --dry-run=client -o yaml
    """
    outcomes = _outcomes(options)
    data = _read_data(f"ConfigMap {name!r}", **options)
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    for key, value in data.items():
        try:
            field, text = "data", value.decode()
        except UnicodeDecodeError:
            field, text = "binaryData", base64.b64encode(value).decode()
        obj.setdefault(field, {})[key] = text
    _create_generated(flags, outcomes, obj)


@create.group()
def secret() -> None:
    """Create a secret from values and files.

    \b
    Examples:
      kubeloop create secret generic db --from-literal=password=s3cr3t
    """


@secret.command(short_help="Create a secret from values and files.")
@click.argument("name")
@_data_flags
@click.option("--type", "secret_type", default="", help="The type of the secret.")
@outcome_flags
@cluster_flags
@pass_flags
def generic(flags: Flags, /, *, name: str, secret_type: str, **options: Any) -> None:
    """Create a secret from values and files.

    \b
    Examples:
      kubeloop create secret generic db --from-literal=password=s3cr3t
      kubeloop create secret generic key --from-file=ssh-key=id_ed25519
    """
    outcomes = _outcomes(options)
    data = _read_data(f"Secret {name!r}", **options)
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    if data:
        obj["data"] = {key: base64.b64encode(value).decode() for key, value in data.items()}
    if secret_type:
        obj["type"] = secret_type
    _create_generated(flags, outcomes, obj)


@create.command(short_help="Create a deployment.")
@click.argument("name")
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", "images", multiple=True, required=True, help="The image of a container.")
@click.option("-r", "--replicas", type=click.IntRange(min=0), default=1, help="The number of pods.")
@click.option("--port", type=int, help="A port of the first container.")
@outcome_flags
@cluster_flags
@pass_flags
def deployment(
    flags: Flags,
    /,
    *,
    name: str,
    command: tuple[str, ...],
    images: tuple[str, ...],
    replicas: int,
    port: int | None,
    **options: Any,
) -> None:
    """Create a deployment.

    \b
    Examples:
      kubeloop create deployment web --image=nginx --replicas=2 --port=80
      kubeloop create deployment idle --image=busybox -- sleep 1h
    """
    if command and len(images) > 1:
        raise usage_error("cannot specify multiple --image options and command")
    containers = [_container(image, _image_name(image), command) for image in images]
    if port is not None:
        containers[0]["ports"] = [{"containerPort": port}]
    labels = {"app": name}
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"labels": labels, "name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "strategy": {},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
        "status": {},
    }
    _create_generated(flags, _outcomes(options), obj)


@create.command(short_help="Create a job.")
@click.argument("name")
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", default="", help="The image of the container.")
@click.option("--from", "source", metavar="cronjob/NAME", default="", help="Run a cron job now.")
@outcome_flags
@cluster_flags
@pass_flags
def job(
    flags: Flags, /, *, name: str, command: tuple[str, ...], image: str, source: str, **options: Any
) -> None:
    """Create a job from an image, or from a cron job.

    \b
    Examples:
      kubeloop create job check --image=busybox -- date
      kubeloop create job backup-now --from=cronjob/backup
    """
    if bool(image) == bool(source):
        raise usage_error("either --image or --from must be specified")
    if source and command:
        raise usage_error("cannot specify --from and command")

    async def from_cron_job(client: Client) -> dict[str, Any]:
        (target,) = parse_targets([source])
        (info, *_) = await find_kinds(client, target.kinds)
        if info.kind != "CronJob" or not target.names:
            raise InvalidArgument(f"create job --from {source}: expected cronjob/NAME")
        cron_job = await ObjectRef(info, target.names[0]).client(client).get(target.names[0])
        return _job_of(name, cron_job)

    template = {
        "metadata": {},
        "spec": {"containers": [_container(image, name, command)], "restartPolicy": "Never"},
    }
    obj = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template},
        "status": {},
    }
    _create_generated(flags, _outcomes(options), from_cron_job if source else obj)


def _job_of(name: str, cron_job: dict[str, Any]) -> dict[str, Any]:
    template = cron_job["spec"]["jobTemplate"]
    metadata = template.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    owner = {
        "apiVersion": "batch/v1",
        "controller": True,
        "kind": "CronJob",
        "name": cron_job["metadata"]["name"],
        "uid": cron_job["metadata"]["uid"],
    }
    labels = {"labels": metadata["labels"]} if metadata.get("labels") else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "annotations": {**annotations, "cronjob.kubernetes.io/instantiate": "manual"},
            **labels,
            "name": name,
            "ownerReferences": [owner],
        },
        "spec": template["spec"],
        "status": {},
    }


def _container(image: str, name: str, command: tuple[str, ...]) -> dict[str, Any]:
    words = {"command": list(command)} if command else {}
    return {**words, "image": image, "name": name, "resources": {}}


def _image_name(image: str) -> str:
    """The name of the container of an image: `nginx` of `registry/nginx:1.28`."""
    base = image.rsplit("/", 1)[-1].partition(":")[0].partition("@")[0]
    return re.sub(r"[^a-z0-9-]+", "-", base.lower()).strip("-") or "container"


# --- data of config maps and secrets


def _read_data(
    what: str, *, literals: tuple[str, ...], data_files: tuple[str, ...], env_files: tuple[str, ...]
) -> Data:
    if env_files and (literals or data_files):
        raise usage_error("from-env-file cannot be combined with from-file or from-literal")
    data: Data = {}
    for key, value in (
        *(pair for text in literals for pair in _literal(text)),
        *(pair for text in data_files for pair in _files(text)),
        *(pair for text in env_files for pair in _env_file(text)),
    ):
        if key in data:
            raise InvalidArgument(
                f"cannot add key {key!r}, another key by that name already exists in {what}"
            )
        data[key] = value
    return data


def _literal(text: str) -> Iterator[tuple[str, bytes]]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InvalidArgument(f"invalid literal source {text}, expected key=value")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]  # as kubectl: quotes of another shell
    yield key, value.encode()


def _files(text: str) -> Iterator[tuple[str, bytes]]:
    key, equals, name = text.partition("=")
    path = Path(name if equals else text)
    try:
        if path.is_dir():
            if equals:
                raise InvalidArgument(f"--from-file {text}: a key cannot be given for a directory")
            for file in sorted(each for each in path.iterdir() if each.is_file()):
                yield file.name, file.read_bytes()
        else:
            yield (key if equals else path.name), path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"--from-file {text}: cannot read it: {reason}") from error


def _env_file(name: str) -> Iterator[tuple[str, bytes]]:
    try:
        lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"--from-env-file {name}: cannot read it: {reason}") from error
    for line in lines:
        text = line.lstrip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals:  # the value of the variable of this process
            if key not in os.environ:
                continue
            value = os.environ[key]
        yield key, value.encode()
