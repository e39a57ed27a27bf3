"""The command `kubeloop describe`: reads objects, what belongs to them, and their events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from kubeloop.clients import ALL_NAMESPACES
from kubeloop.errors import ApiError, Unauthorized
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo, resource_for
from kubeloop_cli.events import event_age, sorted_events
from kubeloop_cli.failures import ExitCode, report
from kubeloop_cli.flags import Flags, cluster_flags, connect, pass_flags
from kubeloop_cli.get import Query, Request, requests_of
from kubeloop_cli.kinds import complete_kind, parse_targets, resource_client_of
from kubeloop_cli.selection import Selection
from kubeloop_cli.terminal import print_line, show_progress

from . import cluster, network, pods, workloads
from .generic import describe_generic
from .page import Json, Page

__all__ = ["describe"]


@click.command()
@click.argument("words", metavar="KIND [NAME]…", nargs=-1, shell_complete=complete_kind)
@click.option("-l", "--selector", default="", help="Select by labels, such as app=web.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Use all namespaces.")
@click.option(
    "-f", "--filename", "files", metavar="FILE|DIR|URL|-", multiple=True,
    help="Describe the objects that these manifests name.",
)  # fmt: skip
@click.option("-R", "--recursive", is_flag=True, help="Use the directories in the directory of -f.")
@click.option(
    "--show-events", type=bool, is_flag=False, flag_value="true", default=None,
    help="Print events; default: of a single object.",
)  # fmt: skip
@click.option(
    "--chunk-size", type=click.IntRange(0), default=500, show_default=True,
    help="How many objects a list request returns at most; 0 is all.",
)  # fmt: skip
@cluster_flags
@pass_flags
def describe(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    selector: str,
    all_namespaces: bool,
    files: tuple[str, ...],
    recursive: bool,
    show_events: bool | None,
    chunk_size: int,
) -> None:
    """Show details of resources, with their events. Values of secrets are not printed.

    If no object has the name, all whose names begin with it are described.

    \b
    Examples:
      kubeloop describe pod web-1
      kubeloop describe deploy,svc -l app=web
      kubeloop describe nodes --show-events=false
      kubeloop describe -f shop.yaml
    """
    if not words and not files:
        raise click.UsageError(
            "Missing argument: a resource type (kubeloop api-resources lists them)"
        )
    if words and files:
        raise click.UsageError("resources and -f cannot be used together")
    targets = parse_targets(words) if words else []
    if selector and (files or any(target.names for target in targets)):
        raise click.UsageError("name and selector cannot be used together")
    query = Query(
        targets=targets,
        files=files,
        recursive=recursive,
        selection=Selection(all_namespaces=all_namespaces, selector=selector),
        chunk_size=chunk_size,
    )
    code = run(_describe(flags, query, show_events))
    click.get_current_context().exit(code)


async def _describe(flags: Flags, query: Query, show_events: bool | None) -> ExitCode:  # noqa: FBT001 - three values
    errors: list[Exception] = []
    found: list[tuple[ResourceInfo, dict[str, Any]]] = []
    similar: list[dict[str, Any]] = []  # their names begin with the name that was given
    async with connect(flags) as client, show_progress("loading"):
        requests = await requests_of(client, query)
        for request in requests:
            found += [(request.info, obj) for obj in await _read(request, query, errors)]
        if not found and len(requests) == len(requests[0].names) == 1:
            similar = await _similar(requests[0])
        if similar:
            errors.clear()
            found = [(requests[0].info, obj) for obj in similar]
        is_single = len(found) == 1 and not similar
        for number, (info, obj) in enumerate(found):
            events = is_single if show_events is None else show_events
            text = await _text(client, info, obj, events=events)
            gap = "\n\n" if number and not similar else ""
            click.echo(f"{gap}{text}", nl=bool(similar))
        if not found and not errors:
            where = "" if query.selection.all_namespaces else f" in {client.namespace} namespace."
            print_line(f"No resources found{where}", err=True)
    return max([report(each, verbose=bool(flags.verbose)) for each in errors], default=ExitCode.OK)


async def _read(request: Request, query: Query, errors: list[Exception]) -> list[dict[str, Any]]:
    """The objects of a request; adds errors of single objects to `errors`."""
    found: list[dict[str, Any]] = []
    for name in request.names or ("",):
        try:
            if name:
                found.append(await request.client.get(name))
            else:
                found += await request.client.list_all(
                    selector=query.selection.selector, page_size=query.chunk_size
                )
        except Unauthorized:
            raise  # every other request would fail the same way
        except ApiError as error:
            errors.append(error)
    return found


async def _similar(request: Request) -> list[dict[str, Any]]:
    """The objects whose names begin with the one of the request; none if they are forbidden."""
    try:
        listed = await request.client.list_all()
    except ApiError:
        return []
    return [each for each in listed if each["metadata"]["name"].startswith(request.names[0])]


async def _text(client: Client, info: ResourceInfo, obj: dict[str, Any], *, events: bool) -> str:
    page = Page()
    layout = _LAYOUTS.get((info.group, info.kind))
    if layout is None:
        describe_generic(page, obj)
    else:
        lookups = layout.lookups(obj) if layout.lookups else ()
        layout.describe(page, obj, *[await _look_up(client, each) for each in lookups])
    if events and (layout is None or layout.events):
        obj = {"apiVersion": info.api_version, "kind": info.kind, **obj}
        _add_events(page, [each.to_dict() for each in await client.events_of(obj)])
    return page.text()


def _add_events(page: Page, events: Sequence[Json]) -> None:
    if not events:
        page.add(0, "Events:", "<none>")
        return
    now = datetime.now(UTC)
    page.add(0, "Events:")
    header = ("Type", "Reason", "Age", "From", "Message")
    page.add_table(1, header, ("----", "------", "----", "----", "-------"))
    for each in sorted_events([dict(event) for event in events]):
        source = each.get("source") or {}
        names = [source.get("component"), source.get("host")]
        sender = ", ".join(str(name) for name in names if name) or each.get("reportingComponent")
        text = str(each.get("message") or "").strip()
        kind, reason = each.get("type") or "", each.get("reason") or ""
        page.add(1, kind, reason, event_age(each, now), sender or "", text)


# --- what belongs to an object


class _Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """Objects that a description needs: one by its name, or a list."""

    group: str = ""
    version: str = "v1"
    kind: str
    namespace: str
    name: str = ""
    selector: str = ""
    field_selector: str = ""


class _Failed(msgspec.Struct, frozen=True):
    """A lookup that failed, with the message of the server."""

    message: str


async def _look_up(client: Client, lookup: _Lookup) -> Any:
    """A list, an object, or `_Failed` for an object; a list that is forbidden is empty."""
    info = resource_for(lookup.group, lookup.version, lookup.kind)
    assert info is not None, "a built-in kind"
    namespace = lookup.namespace if info.namespaced else None
    resource = resource_client_of(client, info, namespace=namespace)
    try:
        if lookup.name:
            return await resource.get(lookup.name)
        listed = await resource.list_all(
            selector=lookup.selector, field_selector=lookup.field_selector
        )
        return listed.items
    except ApiError as error:
        return _Failed(error.message or str(error)) if lookup.name else []


def _in_namespace(obj: Json) -> str:
    return str(obj["metadata"].get("namespace") or "")


def _selected(obj: Json, *, kind: str, group: str = "") -> list[_Lookup]:
    """Objects in the namespace that the labels of the selector of an object match."""
    selector = (obj.get("spec") or {}).get("selector") or {}
    labels = selector.get("matchLabels") if "matchLabels" in selector else None
    is_plain = labels is None and all(isinstance(each, str) for each in selector.values())
    chosen = selector if is_plain else labels or {}
    text = ",".join(f"{key}={value}" for key, value in chosen.items())
    return [_Lookup(group=group, kind=kind, namespace=_in_namespace(obj), selector=text)]


def _for_service(obj: Json) -> list[_Lookup]:
    selector = f"kubernetes.io/service-name={obj['metadata'].get('name')}"
    return [
        _Lookup(
            group="discovery.k8s.io",
            kind="EndpointSlice",
            namespace=_in_namespace(obj),
            selector=selector,
        )
    ]


def _for_ingress(obj: Json) -> list[_Lookup]:
    namespace = _in_namespace(obj)
    return [
        _Lookup(kind="Service", namespace=namespace),
        _Lookup(group="discovery.k8s.io", kind="EndpointSlice", namespace=namespace),
    ]


def _for_node(obj: Json) -> list[_Lookup]:
    name = str(obj["metadata"].get("name"))
    fields = f"spec.nodeName={name},status.phase!=Succeeded,status.phase!=Failed"
    return [
        _Lookup(kind="Pod", namespace=ALL_NAMESPACES, field_selector=fields),
        _Lookup(group="coordination.k8s.io", kind="Lease", namespace="kube-node-lease", name=name),
    ]


def _for_namespace(obj: Json) -> list[_Lookup]:
    name = str(obj["metadata"].get("name"))
    return [_Lookup(kind=kind, namespace=name) for kind in ("ResourceQuota", "LimitRange")]


def _describe_node(page: Page, node: Json, found: Sequence[Json], lease: Any) -> None:
    if isinstance(lease, _Failed):
        cluster.describe_node(page, node, found, None, lease.message)
    else:
        cluster.describe_node(page, node, found, lease, "")


class _Layout(msgspec.Struct, frozen=True):
    """How a kind is described, and what else has to be read for it."""

    describe: Callable[..., None]
    lookups: Callable[[Json], list[_Lookup]] | None = None
    events: bool = True


def _pods_of(obj: Json) -> list[_Lookup]:
    return _selected(obj, kind="Pod")


_LAYOUTS = {
    ("", "Pod"): _Layout(pods.describe_pod),
    ("", "ReplicationController"): _Layout(workloads.describe_replica_set, _pods_of),
    ("apps", "ReplicaSet"): _Layout(workloads.describe_replica_set, _pods_of),
    ("apps", "StatefulSet"): _Layout(workloads.describe_stateful_set, _pods_of),
    ("apps", "DaemonSet"): _Layout(workloads.describe_daemon_set, _pods_of),
    ("apps", "Deployment"): _Layout(
        workloads.describe_deployment,
        lambda obj: _selected(obj, kind="ReplicaSet", group="apps"),
    ),
    ("batch", "Job"): _Layout(workloads.describe_job),
    ("batch", "CronJob"): _Layout(workloads.describe_cron_job),
    ("autoscaling", "HorizontalPodAutoscaler"): _Layout(workloads.describe_autoscaler),
    ("policy", "PodDisruptionBudget"): _Layout(workloads.describe_disruption_budget),
    ("", "Service"): _Layout(network.describe_service, _for_service),
    ("discovery.k8s.io", "EndpointSlice"): _Layout(network.describe_endpoint_slice),
    ("", "Endpoints"): _Layout(network.describe_endpoints),
    ("networking.k8s.io", "IngressClass"): _Layout(network.describe_ingress_class),
    ("networking.k8s.io", "Ingress"): _Layout(network.describe_ingress, _for_ingress),
    ("networking.k8s.io", "NetworkPolicy"): _Layout(network.describe_network_policy, events=False),
    ("", "Node"): _Layout(_describe_node, _for_node),
    ("", "Namespace"): _Layout(cluster.describe_namespace, _for_namespace, events=False),
    ("", "ResourceQuota"): _Layout(cluster.describe_quota, events=False),
    ("", "LimitRange"): _Layout(cluster.describe_limit_range, events=False),
    ("", "PersistentVolume"): _Layout(cluster.describe_volume),
    ("", "PersistentVolumeClaim"): _Layout(
        cluster.describe_claim, lambda obj: [_Lookup(kind="Pod", namespace=_in_namespace(obj))]
    ),
    ("storage.k8s.io", "StorageClass"): _Layout(cluster.describe_storage_class),
    ("", "ConfigMap"): _Layout(cluster.describe_config_map),
    ("", "Secret"): _Layout(cluster.describe_secret, events=False),
    ("", "ServiceAccount"): _Layout(cluster.describe_service_account),
    ("scheduling.k8s.io", "PriorityClass"): _Layout(cluster.describe_priority_class),
    **{
        ("rbac.authorization.k8s.io", kind): _Layout(layout, events=False)
        for kind, layout in (
            ("Role", cluster.describe_role),
            ("ClusterRole", cluster.describe_role),
            ("RoleBinding", cluster.describe_binding),
            ("ClusterRoleBinding", cluster.describe_binding),
        )
    },
}
