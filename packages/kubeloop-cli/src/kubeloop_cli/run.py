"""`kubeloop run`: runs an image in a pod, and with `--attach` to its end.

Guarantees: with `--attach` the exit code is that of the container, and its log is printed.
"""

from __future__ import annotations

from typing import Any

import click

from kubeloop import kit
from kubeloop.errors import InvalidArgument
from kubeloop.wire import resource_of
from kubeloop.wire.core.v1 import Pod

from .durations import DurationType
from .flags import Flags, OptionalValueCommand, cluster_flags, connect, pass_flags
from .outputs import Output
from .sources import Outcomes, outcome_flags, usage_error
from .terminal import print_content, print_line

__all__ = ["run"]


@click.command(cls=OptionalValueCommand)
@click.argument("name")
@click.argument("arguments", metavar="[-- ARGUMENT…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", required=True, help="The image of the container.")
@click.option(
    "--command", "is_command", is_flag=True, help="The arguments replace the entry point."
)
@click.option("--env", "variables", metavar="KEY=VALUE", multiple=True, help="A variable.")
@click.option("-l", "--labels", default="", help="Labels of the pod: app=web,tier=front.")
@click.option("--port", type=int, help="A port of the container.")
@click.option(
    "--restart", type=click.Choice(["Always", "OnFailure", "Never"]), help="The restart policy.",
)  # fmt: skip
@click.option("--attach", is_flag=True, help="Wait for the end, print the log, exit with its code.")
@click.option("--rm", is_flag=True, help="Delete the pod afterwards; needs --attach.")
@click.option(
    "--timeout", type=DurationType(), default="10m", show_default=True,
    help="How long the pod may take with --attach.",
)  # fmt: skip
@outcome_flags
@cluster_flags
@pass_flags
def run(
    flags: Flags,
    /,
    *,
    name: str,
    attach: bool,
    rm: bool,
    timeout: float,
    output: Output | None,
    dry_run: Any,
    **options: Any,
) -> None:
    """Run an image in a pod.

    With --attach the command waits until the pod has ended (--restart=Never is the default
    then), prints its log, and exits with the exit code of the container.

    \b
    Examples:
      kubeloop run web --image=nginx --port=80
      kubeloop run check --image=busybox --attach --rm --command -- sh -c 'date'
      kubeloop run web --image=nginx --dry-run=client -o yaml
    """
    if rm and not attach:
        raise usage_error("--rm should only be used for attached containers")
    if attach and options["restart"] not in (None, "Never"):
        raise usage_error("--attach waits for the end of the pod: use --restart=Never")
    options["restart"] = options["restart"] or ("Never" if attach else "Always")
    pod = _pod(name, **options)
    outcomes = Outcomes(output=output, dry_run=dry_run)
    info = resource_of(Pod)
    if dry_run == "client":
        outcomes.show(info, pod, "created")
        return

    async def main() -> int:
        async with connect(flags) as client:
            if not attach:
                pods = client.dynamic.resource("v1", "Pod")
                created = await pods.create(pod, dry_run=outcomes.is_server_dry_run)
                outcomes.show(info, created, "created")
                return 0
            result = await client.run(Pod.from_dict(pod), timeout=timeout or None, keep=not rm)
            print_content(result.logs)
            if rm:
                where = f"from {client.namespace} namespace"
                print_line(f'pod "{name}" deleted {where}', err=True)
            return result.exit_code

    click.get_current_context().exit(kit.run(main()))


def _pod(
    name: str,
    *,
    image: str,
    arguments: tuple[str, ...],
    is_command: bool,
    variables: tuple[str, ...],
    labels: str,
    port: int | None,
    restart: str,
) -> dict[str, Any]:
    container: dict[str, Any] = {"image": image, "name": name, "resources": {}}
    if arguments:
        container["command" if is_command else "args"] = list(arguments)
    if variables:
        pairs = [_pair("--env", each) for each in variables]
        container["env"] = [{"name": key, "value": value} for key, value in pairs]
    if port is not None:
        container["ports"] = [{"containerPort": port}]
    given = dict(_pair("--labels", each) for each in labels.split(",") if each)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": given or {"run": name}, "name": name},
        "spec": {
            "containers": [container],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": restart,
        },
        "status": {},
    }


def _pair(flag: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InvalidArgument(f"{flag} {text}: expected key=value")
    return key, value
