"""Input and output of exec credential plugins.

Guarantees: no I/O except to find a program; an error never quotes the output, which has the
credentials; a program is found by PATH, never by a shell, and never by accident in the working
directory.
See also: `exec_credentials` (runs plugins).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from .errors import ConfigError, PluginError, PluginNotFound
from .kubeconfig import ExecConfig, has_path_separator
from .redaction import Redacted
from .tls import ClientCertificate, check_pair

__all__ = [
    "EXEC_INFO",
    "SUPPORTED_VERSIONS",
    "ExecCluster",
    "ExecOutput",
    "check_exec_config",
    "exec_info",
    "find_program",
    "install_advice",
    "is_interactive",
    "look_up",
    "parse_output",
    "plugin_environment",
]

EXEC_INFO = "KUBERNETES_EXEC_INFO"
SUPPORTED_VERSIONS = (
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
)

_HELP = (
    "install the credential plugin that the kubeconfig names,"
    " see https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
    "#client-go-credential-plugins"
)


class ExecCluster(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The cluster information in `KUBERNETES_EXEC_INFO`."""

    server: str = ""
    tls_server_name: str = msgspec.field(default="", name="tls-server-name")
    insecure_skip_tls_verify: bool = msgspec.field(default=False, name="insecure-skip-tls-verify")
    certificate_authority_data: bytes = msgspec.field(
        default=b"", name="certificate-authority-data"
    )
    proxy_url: str = msgspec.field(default="", name="proxy-url")
    disable_compression: bool = msgspec.field(default=False, name="disable-compression")
    config: object = None


class ExecOutput(Redacted, frozen=True, kw_only=True):
    """The credentials that a plugin printed; without `expires` they do not expire."""

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"token"})

    token: str = ""
    certificate: ClientCertificate | None = None
    expires: datetime | None = None


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


# Created at import, in one thread: msgspec crashes if two threads inspect a class at once.
_exec_credentials = msgspec.json.Decoder(_ExecCredential)


def check_exec_config(plugin: ExecConfig) -> None:
    """Raise `ConfigError` for an unsupported apiVersion."""
    if plugin.api_version not in SUPPORTED_VERSIONS:
        known = " and ".join(SUPPORTED_VERSIONS)
        raise ConfigError(
            f"exec plugin {plugin.command}: apiVersion {plugin.api_version!r} is not supported,"
            f" supported are {known} (update the plugin and the kubeconfig)"
        )


def is_interactive(plugin: ExecConfig, *, terminal: bool) -> bool:
    """Whether the plugin may use the terminal; `terminal` says that there is one.

    Raises: `PluginError` when it needs a terminal and there is none, or for an unknown mode.
    """
    possible = terminal and not plugin.stdin_unavailable
    match plugin.interactive_mode:
        case "Never":
            return False
        case "IfAvailable":
            return possible
        case "Always" if possible:
            return True
        case "Always":
            raise PluginError(
                f"exec plugin {plugin.command}: it needs a terminal, and"
                f" {_no_terminal_reason(plugin)}"
            )
        case mode:
            raise PluginError(
                f"exec plugin {plugin.command}: unknown interactiveMode {mode!r}"
                " (set Never, IfAvailable or Always)"
            )


def exec_info(plugin: ExecConfig, cluster: ExecCluster | None, *, interactive: bool) -> str:
    """The JSON for `KUBERNETES_EXEC_INFO`."""
    spec: dict[str, object] = {"interactive": interactive}
    if plugin.provide_cluster_info and cluster is not None:
        spec["cluster"] = {"server": cluster.server, **msgspec.to_builtins(cluster)}
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(info).decode()


def plugin_environment(plugin: ExecConfig, info: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of the process, those of the kubeconfig, and the exec info."""
    configured = {variable.name: variable.value for variable in plugin.env}
    return {**environ, **configured, EXEC_INFO: info}


def parse_output(stdout: bytes, plugin: ExecConfig) -> ExecOutput:
    """The credentials in the output of the plugin.

    Raises: `PluginError` when it is not an ExecCredential of the configured version.
    """
    credential = _decode(stdout, plugin)
    if (credential.kind, credential.api_version) != ("ExecCredential", plugin.api_version):
        raise _output_error(
            plugin,
            f"expected ExecCredential of {plugin.api_version},"
            f" it printed {_describe_type(credential)}",
        )
    status = credential.status
    if status is None:
        raise _output_error(plugin, "it printed no status")
    certificate, key = status.client_certificate_data or "", status.client_key_data or ""
    if bool(certificate) != bool(key):
        raise _output_error(
            plugin, "it printed only one of clientCertificateData and clientKeyData"
        )
    if not status.token and not certificate:
        raise _output_error(plugin, "it printed neither a token nor a certificate")
    return ExecOutput(
        token=status.token or "",
        certificate=_pair(certificate, key, plugin) if certificate else None,
        expires=status.expiration_timestamp,
    )


def find_program(plugin: ExecConfig, environ: Mapping[str, str]) -> str:
    """The absolute path of the plugin's program.

    Raises: `PluginNotFound` when it is not found, or only in the working directory.
    """
    command = plugin.command
    found = look_up(command, environ.get("PATH", os.defpath))
    if found is None:
        where = "" if has_path_separator(command) else " in PATH"
        raise PluginNotFound(f"exec plugin {command}: no such program{where}")
    if not Path(found).is_absolute() and not has_path_separator(command):
        raise PluginNotFound(
            f"exec plugin {command}: found only in the working directory, which is not searched"
            " (add its directory to PATH, or use its path)"
        )
    return str(Path(found).absolute())


def install_advice(plugin: ExecConfig) -> str:
    """How to install the plugin."""
    hint = " ".join(plugin.install_hint.split())
    return f"{_HELP}: {hint}" if hint else _HELP


def look_up(command: str, path: str) -> str | None:
    """The path of `command`, with the extensions of Windows; None if it is not found."""
    found = shutil.which(os.path.normpath(command), path=path)
    if found is None and sys.platform == "win32" and has_path_separator(command):
        # Before Python 3.12 `which` adds extensions only to commands without a directory.
        endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(os.pathsep)
        return next(filter(None, (shutil.which(command + end) for end in endings)), None)
    return found


def _no_terminal_reason(plugin: ExecConfig) -> str:
    if not plugin.stdin_unavailable:
        return "standard input is not one (run it in a terminal, or set interactiveMode)"
    return f"standard input is unavailable: {plugin.stdin_unavailable_message or 'it is in use'}"


def _describe_type(credential: _ExecCredential) -> str:
    """The type of the output, without quoting it: a token may be in any field."""
    kinds = {"ExecCredential": "ExecCredential", "": "no kind"}
    versions = {**{version: version for version in SUPPORTED_VERSIONS}, "": "no apiVersion"}
    kind = kinds.get(credential.kind, "another kind")
    return f"{kind} of {versions.get(credential.api_version, 'another apiVersion')}"


def _decode(stdout: bytes, plugin: ExecConfig) -> _ExecCredential:
    if not stdout.strip():
        raise _output_error(plugin, "it printed nothing")
    try:
        return _exec_credentials.decode(stdout)
    except msgspec.ValidationError as error:
        raise _output_error(plugin, f"it printed an invalid ExecCredential: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # It is not quoted: half a credential is still a secret.
        raise _output_error(plugin, f"it printed {len(stdout)} bytes that are not JSON") from None


def _pair(certificate: str, key: str, plugin: ExecConfig) -> ClientCertificate:
    pair = ClientCertificate(certificate=certificate.encode(), key=key.encode())
    check_pair(pair, what=f"exec plugin {plugin.command}")
    return pair


def _output_error(plugin: ExecConfig, problem: str) -> PluginError:
    return PluginError(
        f"exec plugin {plugin.command}: {problem} (run it by hand and check its output)"
    )
