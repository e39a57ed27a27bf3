"""The program `kubeloop`: its commands, and the flags before them.

Promises: no command is imported before it is called.
Elsewhere: how they are found and how they fail (`lazy_group`, `failures`).
"""

from __future__ import annotations

import click

from kubeloop import __version__

from .failures import EXIT_CODES
from .flags import cluster_flags
from .lazy_group import LazyGroup

__all__ = ["kubeloop"]

_COMMANDS = {
    "demo": (".demo", "See it work: a server, a controller and a broken watch, live."),
    "serve": (".serve", "A Kubernetes API server of your own, in this process."),
    "get": (".get", "What there is, in the columns of kubectl."),
    "watch": (".watch", "What changes, as a live table."),
    "apply": (".apply", "Server-side apply of manifests."),
    "logs": (".logs", "What a container has written."),
    "wait": (".wait", "Wait until an object is as it is wanted."),
    "crd": (".crd", "Classes from CRDs, and CRDs from classes."),
    "cache": (".cache", "What a cache of some kinds would cost."),
    "config": (".config", "What would be used, and where from."),
    "inspect": (".inspect", "The inspector of a running process."),
    "completion": (".completion", "The completion script of a shell."),
    "version": (".version", "The versions of client and server."),
}


@click.group(
    cls=LazyGroup,
    elsewhere=_COMMANDS,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="kubeloop %(version)s")
@cluster_flags
def kubeloop() -> None:
    """client-go for Python, at the command line.

    \b
    Examples:
      kubeloop demo                        see it work, without a cluster
      kubeloop serve --simulate            a cluster of your own, for now
      kubeloop get pods -A                 what there is
      kubeloop watch deploy,po -n shop     what changes
      kubeloop COMMAND --help              examples of each command
    """
