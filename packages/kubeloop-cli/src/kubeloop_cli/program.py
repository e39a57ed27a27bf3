"""The top-level command: the list of commands, and the global flags.

Guarantees: no command is imported before it is called.
See also: `lazy_group` (how a command is loaded), `failures` (how errors are reported).
"""

from __future__ import annotations

import click

from kubeloop import __version__

from .failures import EXIT_CODES
from .flags import cluster_flags
from .lazy_group import LazyGroup

__all__ = ["ONLY_KUBECTL", "kubeloop"]

_COMMANDS = {
    "demo": (".demo", "Run a live demo: a server, a controller and failures."),
    "serve": (".serve", "Run a Kubernetes API server in this process."),
    "get": (".get", "Display one or many resources."),
    "describe": (".describe", "Show details of resources, with their events."),
    "events": (".events", "Display events."),
    "tree": (".tree", "Show what an object owns, or its owners."),
    "explain": (".explain", "Describe the fields of a resource type."),
    "api-resources": (".api_resources", "List the resource types of the server."),
    "api-versions": (".api_resources", "List the API versions of the server."),
    "watch": (".watch", "Watch resources in a live table."),
    "apply": (".apply", "Apply manifests with server-side apply."),
    "diff": (".diff", "Show what an apply would change."),
    "create": (".create", "Create objects from manifests or flags."),
    "edit": (".edit", "Edit objects in an editor."),
    "patch": (".patch", "Change fields of objects with a patch."),
    "label": (".metadata_commands", "Change the labels of objects."),
    "annotate": (".metadata_commands", "Change the annotations of objects."),
    "delete": (".delete", "Delete objects, and wait until they are gone."),
    "scale": (".scale", "Set the number of replicas."),
    "rollout": (".rollout", "Restart, follow, undo or pause a rollout."),
    "cordon": (".nodes", "Keep new pods off nodes."),
    "uncordon": (".nodes", "Allow new pods on nodes again."),
    "drain": (".nodes", "Evict the pods of nodes."),
    "run": (".run", "Run an image in a pod."),
    "auth": (".auth", "Show who you are, and what you may do."),
    "logs": (".logs", "Print the logs of containers."),
    "exec": (".exec", "Run a program in a container."),
    "attach": (".exec", "Connect to the program that a container runs."),
    "debug": (".exec", "Add a container to a running pod, and attach to it."),
    "cp": (".cp", "Copy files between this machine and containers."),
    "port-forward": (".port_forward", "Forward local ports to a pod."),
    "wait": (".wait", "Wait for a condition on one or many resources."),
    "crd": (".crd", "Generate Python classes from CRDs, and CRDs from classes."),
    "cache": (".cache", "Measure the memory and time that a cache needs."),
    "config": (".config", "Show the configuration in use, and its source."),
    "inspect": (".inspect", "Find the inspectors of running processes."),
    "completion": (".completion", "Print the completion script for a shell."),
    "version": (".version", "Print the client and server versions."),
}
# What kubectl does and kubeloop does not.
ONLY_KUBECTL = (
    *("autoscale", "certificate", "cluster-info", "expose", "kuberc", "kustomize", "options"),
    *("plugin", "proxy", "replace", "set", "taint", "top"),
)


@click.group(
    cls=LazyGroup,
    lazy_commands=_COMMANDS,
    only_kubectl=ONLY_KUBECTL,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="kubeloop %(version)s")
@cluster_flags
def kubeloop() -> None:
    """Read, watch and change Kubernetes resources, or serve a cluster for tests.

    \b
    Examples:
      kubeloop demo                        see kubeloop work, no cluster needed
      kubeloop serve --simulate            run an API server with simulated pods
      kubeloop get pods -A                 list the pods of all namespaces
      kubeloop describe deploy web         show details and events of a deployment
      kubeloop watch deploy,po -n shop     watch deployments and pods
      kubeloop COMMAND --help              show the help of a command
    """
