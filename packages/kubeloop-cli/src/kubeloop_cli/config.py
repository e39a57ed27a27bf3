"""`kubeloop config`: the cluster, the user and the credentials in use, and their source.

Guarantees: no secret is printed, and no request is sent.
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
    "-o",
    "--output",
    type=OutputType("table", "json"),
    default="table",
    help="The output format: table or json.",
)
@cluster_flags
@pass_flags
def config(flags: Flags, *, output: Output) -> None:
    """Show the configuration in use, and where it comes from; secrets are hidden.

    \b
    Examples:
      kubeloop config
      kubeloop config --context staging
      kubeloop config -o json
    """
    settings = dict(_settings(flags, flags.config()))
    if output.format == "json":
        click.echo(json.dumps(settings, indent=4))
        return
    width = max(map(len, settings)) + 3
    for line in lines_of(settings.items(), (width, 0)):
        print_line(line)


def _settings(flags: Flags, used: ClusterConfig) -> Iterator[tuple[str, str]]:
    files = KubeconfigFiles.from_environ(explicit=flags.kubeconfig)
    read = [name for name in files.names if Path(name).exists()]
    merged = load_kubeconfig(flags.kubeconfig)
    context = flags.context or merged.current_context
    chosen = merged.contexts.get(context)
    if chosen is None:
        yield "from", "the service account of this pod"
    else:
        yield "from", f"{', '.join(read)} ({_source(flags)})"
        yield "context", f"{context} ({'--context' if flags.context else 'current-context'})"
        yield "cluster", _entry(chosen.cluster, merged, "clusters")
        yield "user", _entry(chosen.user, merged, "users")
    yield "server", redacted_url(used.server)
    yield "namespace", f"{used.namespace}{' (--namespace)' if flags.namespace else ''}"
    yield "credentials", _credentials(used)
    yield "trust", _trust(used)
    yield from _extras(used)


def _source(flags: Flags) -> str:
    if flags.kubeconfig:
        return "--kubeconfig"
    return "KUBECONFIG" if os.environ.get("KUBECONFIG") else "the default path"


def _entry(name: str, merged: Kubeconfig, section: str) -> str:
    """A name, and the file that defines it."""
    entry = getattr(merged, section).get(name)
    origin = getattr(entry, "origin", "")
    return f"{name} (in {origin})" if origin else name


def _credentials(used: ClusterConfig) -> str:
    """The kinds of credentials in use, without their values."""
    if used.exec is not None:
        return f"exec plugin {used.exec.command}"
    if used.auth_provider is not None:
        return f"auth provider {used.auth_provider.name}"
    kinds = (
        ("client certificate", used.client_certificate or used.client_certificate_file),
        (f"token from {used.token_file}", used.token_file),
        ("token (hidden)", used.token and not used.token_file),
        (f"user {used.username}, password (hidden)", used.username),
    )
    return ", ".join(name for name, value in kinds if value) or "none: anonymous requests"


def _trust(used: ClusterConfig) -> str:
    if not used.uses_tls:
        return "none: the server is not https"
    if used.insecure_skip_tls_verify:
        return "any certificate: verification is disabled"
    if used.ca:
        return f"the CA certificate in the kubeconfig ({len(used.ca)} bytes)"
    return used.ca_file or "the CA certificates of this system"


def _extras(used: ClusterConfig) -> Iterator[tuple[str, str]]:
    if used.impersonate is not None:
        yield "impersonating", used.impersonate.user
    if used.proxy_url:
        yield "proxy", redacted_url(used.proxy_url)
    if used.timeout:
        yield "request timeout", f"{used.timeout:g} s"
