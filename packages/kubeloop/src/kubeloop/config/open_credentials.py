"""Creates the source of credentials that a configuration describes.

Guarantees: no network; a configuration with credentials never becomes an anonymous source; a fixed
token, password or certificate takes precedence over a plugin; credentials that are sent
unencrypted lead to a warning in the log.
See also: `credentials`, `exec_credentials`, `oidc` (the sources).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .cluster import ClusterConfig, UserLocation
from .credentials import (
    CertificateFiles,
    CertificateSource,
    Credentials,
    Identity,
    StaticCredentials,
    TokenFileCredentials,
    WithCertificate,
    basic,
    bearer,
)
from .errors import ConfigError, CredentialError
from .kubeconfig import EXEC_TIME_LIMIT, AuthProvider, ExecConfig, Kubeconfig
from .redaction import redacted_url
from .tls import ClientCertificate, check_pair

if TYPE_CHECKING:  # imported by the configurations that need them
    from .exec_plugin import ExecCluster
    from .oidc import Fetch, Persist

__all__ = ["Provider", "exec_cluster", "open_credentials", "token_writer"]

log = get_logger(__name__)

# Creates the credentials of an `auth-provider` in a kubeconfig.
Provider = Callable[[AuthProvider], Credentials]

_REPLACED = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}


def open_credentials(
    config: ClusterConfig,
    *,
    clock: Clock,
    fetch: Fetch | None = None,
    providers: Mapping[str, Provider] | None = None,
    environ: Mapping[str, str] | None = None,
    exec_time_limit: float | None = EXEC_TIME_LIMIT,
) -> Credentials:
    """The credentials of `config`; callers that share the result share its refreshes.

    `fetch` sends HTTP requests for OpenID Connect, `providers` adds auth providers by name,
    `environ` is the environment of a plugin.

    Raises: `ConfigError` for an unknown plugin version or provider, `CredentialError` for a
    certificate that does not match its key.
    """
    if config.has_credentials and not config.uses_tls:
        log.warning(
            "%s is not https: the credentials are sent unencrypted (use https)",
            redacted_url(config.server),
        )
    if config.credentials is not None:
        return config.credentials
    certificate = _certificate(config, clock)
    fixed = _fixed_credentials(config, clock)
    # As in client-go, a plugin is used only if there are no other credentials.
    if config.exec is not None and fixed is None and certificate is None:
        from .exec_credentials import ExecCredentials

        return ExecCredentials(
            config.exec,
            clock=clock,
            cluster=exec_cluster(config, config.exec),
            environ=environ,
            time_limit=exec_time_limit,
        )
    if fixed is None and config.auth_provider is not None:
        fixed = _provider_credentials(config, config.auth_provider, clock, fetch, providers or {})
    inner = fixed or StaticCredentials(Identity())
    return WithCertificate(inner, certificate) if certificate is not None else inner


def exec_cluster(config: ClusterConfig, plugin: ExecConfig) -> ExecCluster | None:
    """The cluster information for the plugin; None if it does not request any.

    Raises: `ConfigError` when the CA file cannot be read.
    """
    if not plugin.provide_cluster_info:
        return None
    from .exec_plugin import ExecCluster

    return ExecCluster(
        server=config.server,
        tls_server_name=config.tls_server_name,
        insecure_skip_tls_verify=config.insecure_skip_tls_verify,
        certificate_authority_data=config.ca or _file(config.ca_file),
        proxy_url=config.proxy_url,
        disable_compression=config.disable_compression,
        config=plugin.cluster_config,
    )


def token_writer(location: UserLocation) -> Persist:
    """Returns a function that stores new settings of a provider in its kubeconfig."""

    from .loading import KubeconfigFiles
    from .writing import update_kubeconfig

    def persist(settings: Mapping[str, str]) -> None:
        def change(config: Kubeconfig) -> Kubeconfig:
            user = config.users.get(location.name)
            if user is None or user.auth_provider is None:
                raise ConfigError(
                    f'storing new tokens: user "{location.name}" is no longer in {location.file}'
                    " (log in again)"
                )
            provider = msgspec.structs.replace(user.auth_provider, config=dict(settings))
            changed = msgspec.structs.replace(user, auth_provider=provider)
            return msgspec.structs.replace(config, users={**config.users, location.name: changed})

        update_kubeconfig(change, files=KubeconfigFiles(explicit=location.file))

    return persist


def _fixed_credentials(config: ClusterConfig, clock: Clock) -> Credentials | None:
    if config.token_file:
        return TokenFileCredentials(config.token_file, clock=clock, initial=config.token)
    if config.token:
        return StaticCredentials(Identity(authorization=bearer(config.token)))
    if config.username or config.password:
        return StaticCredentials(Identity(authorization=basic(config.username, config.password)))
    return None


def _certificate(config: ClusterConfig, clock: Clock) -> CertificateSource | None:
    if not config.client_certificate and not config.client_certificate_file:
        return None
    if not config.client_certificate and not config.client_key:
        # A pair can be replaced only if both parts are files.
        return CertificateFiles(config.client_certificate_file, config.client_key_file, clock=clock)
    pair = ClientCertificate(
        certificate=config.client_certificate or _file(config.client_certificate_file),
        key=config.client_key or _file(config.client_key_file),
    )
    check_pair(pair, what="client certificate")
    return _FixedCertificate(pair)


class _FixedCertificate(msgspec.Struct, frozen=True):
    pair: ClientCertificate

    def current(self) -> ClientCertificate:
        return self.pair


def _provider_credentials(
    config: ClusterConfig,
    provider: AuthProvider,
    clock: Clock,
    fetch: Fetch | None,
    providers: Mapping[str, Provider],
) -> Credentials:
    if "oidc" in providers:
        raise ConfigError("auth-provider oidc is built in (use another name for yours)")
    if provider.name in providers:
        return providers[provider.name](provider)
    if provider.name != "oidc":
        advice = _REPLACED.get(provider.name, "an exec plugin")
        raise ConfigError(f'auth-provider "{provider.name}" is not known').with_hint(
            f"use {advice} instead", python="pass the provider as providers="
        )
    location = config.auth_provider_location
    persist = token_writer(location) if location is not None else None
    from .oidc import OidcCredentials

    return OidcCredentials(provider, clock=clock, fetch=fetch, persist=persist)


def _file(path: str) -> bytes:
    if not path:
        return b""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CredentialError(f"reading {path}: {error.strerror} (check the path)") from error
