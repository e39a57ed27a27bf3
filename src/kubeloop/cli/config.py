"""`kubeloop config`: which cluster would be used, as whom, and where that is written.

Promises: no secret is shown, and no request is sent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click

from kubeloop.config import (
    ClusterConfig,
    Kubeconfig,
    KubeconfigFiles,
    load_kubeconfig,
    redacted_url,
)

from .flags import Flags, cluster_flags, pass_flags
from .outputs import Output, OutputType
from .tables import lines_of
from .terminal import print_line

__all__ = ["config"]


@click.command()
@click.option(
    "-o", "--output", type=OutputType("table", "json"), default="table", help="table or json."
)
@cluster_flags
@pass_flags
def config(flags: Flags, *, output: Output) -> None:
    """What would be used, and where from; secrets are hidden.

    \b
    Examples:
      kubeloop config
      kubeloop config --context staging
      kubeloop config -o json
    """
    found = dict(_facts(flags, flags.config()))
    if output.form == "json":
        click.echo(json.dumps(found, indent=4))
        return
    width = max(map(len, found)) + 3
    for line in lines_of(found.items(), (width, 0)):
        print_line(line)


def _facts(flags: Flags, used: ClusterConfig) -> Iterator[tuple[str, str]]:
    files = KubeconfigFiles.from_environ(explicit=flags.kubeconfig)
    read = [name for name in files.names if Path(name).exists()]
    merged = load_kubeconfig(flags.kubeconfig)
    context = flags.context or merged.current_context
    chosen = merged.contexts.get(context)
    if chosen is None:
        yield "from", "the service account of this pod"
    else:
        yield "from", f"{', '.join(read)} ({_why(flags)})"
        yield "context", f"{context} ({'--context' if flags.context else 'current-context'})"
        yield "cluster", _entry(chosen.cluster, merged, "clusters")
        yield "user", _entry(chosen.user, merged, "users")
    yield "server", redacted_url(used.server)
    yield "namespace", f"{used.namespace}{' (--namespace)' if flags.namespace else ''}"
    yield "credentials", _credentials(used)
    yield "trust", _trust(used)
    yield from _extras(used)


def _why(flags: Flags) -> str:
    if flags.kubeconfig:
        return "--kubeconfig"
    return "KUBECONFIG" if os.environ.get("KUBECONFIG") else "the usual place"


def _entry(name: str, merged: Kubeconfig, sort: str) -> str:
    """A name, and the file that says what it means."""
    found = getattr(merged, sort).get(name)
    origin = getattr(found, "origin", "")
    return f"{name} (in {origin})" if origin else name


def _credentials(used: ClusterConfig) -> str:
    """How we say who we are, without saying it."""
    if used.exec is not None:
        return f"the plugin {used.exec.command}"
    if used.auth_provider is not None:
        return f"the auth provider {used.auth_provider.name}"
    ways = (
        ("client certificate", used.client_certificate or used.client_certificate_file),
        (f"token of {used.token_file}", used.token_file),
        ("token (hidden)", used.token and not used.token_file),
        (f"user {used.username}, password (hidden)", used.username),
    )
    return ", ".join(name for name, given in ways if given) or "none: anonymous requests"


def _trust(used: ClusterConfig) -> str:
    if not used.uses_tls:
        return "none: the server is not https"
    if used.insecure_skip_tls_verify:
        return "anybody: verification is switched off"
    if used.ca:
        return f"the certificate in the kubeconfig ({len(used.ca)} bytes)"
    return used.ca_file or "the certificates of this system"


def _extras(used: ClusterConfig) -> Iterator[tuple[str, str]]:
    if used.impersonate is not None:
        yield "impersonating", used.impersonate.user
    if used.proxy_url:
        yield "proxy", redacted_url(used.proxy_url)
    if used.timeout:
        yield "request timeout", f"{used.timeout:g} s"
