"""The errors of configuration and credentials, before a request is sent.

```
ConfigError
├── InvalidConfig          the configuration is invalid; `problems` has every reason
│   ├── EmptyConfig        nothing is configured
│   └── ContextNotFound    the context is not in the kubeconfig
├── KubeconfigLocked       another process is writing the file
├── NotInCluster           this process does not run in a pod
├── NoCredentials          no credentials, and `anonymous` is not set
└── CredentialError        the configured credentials are not available
    └── PluginError        the exec plugin failed, hung or printed no credential
        ├── PluginNotFound
        └── PluginDenied   the plugin policy does not allow it
```

Guarantees: no message contains a token, a password, a key or the standard output of a plugin.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeloop.errors import ConfigError

__all__ = [
    "ConfigError",
    "ContextNotFound",
    "CredentialError",
    "EmptyConfig",
    "InvalidConfig",
    "KubeconfigLocked",
    "NoCredentials",
    "NotInCluster",
    "PluginDenied",
    "PluginError",
    "PluginNotFound",
    "as_one_error",
]


class InvalidConfig(ConfigError):
    """The configuration is invalid; `problems` has each reason."""

    def __init__(self, message: str, *, problems: Sequence[ConfigError] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)

    def has(self, kind: type[ConfigError]) -> bool:
        """Whether this error or one of its problems is a `kind`."""
        return isinstance(self, kind) or any(isinstance(problem, kind) for problem in self.problems)


class EmptyConfig(InvalidConfig):
    """Nothing is configured."""

    def __init__(self, tried: str = "") -> None:
        super().__init__(f"no configuration has been provided{': ' if tried else ''}{tried}")
        self.with_hint("set KUBECONFIG, or run inside a pod", python="pass kubeconfig=")


class ContextNotFound(InvalidConfig):
    """The context is not in the kubeconfig."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        available = ", ".join(sorted(known)) or "none"
        super().__init__(
            f'context "{name}" does not exist, available: {available}'
            " (choose one of them, or set current-context)"
        )
        self.name = name


class KubeconfigLocked(ConfigError):
    """Another process is writing the kubeconfig, or died while writing."""


class NotInCluster(ConfigError):
    """This process does not run in a pod, or the pod has no service account."""


class NoCredentials(ConfigError):
    """No credentials are configured, and `anonymous` is not set."""


class CredentialError(ConfigError):
    """The configured credentials are not available."""


class PluginError(CredentialError):
    """An exec plugin failed, hung or printed no credential."""


class PluginNotFound(PluginError):
    """The plugin's program is not installed."""


class PluginDenied(PluginError):
    """The plugin policy does not allow the program to be run."""


def as_one_error(problems: Sequence[ConfigError]) -> InvalidConfig:
    """One error for `problems`, which must not be empty; a single InvalidConfig is returned."""
    if len(problems) == 1 and isinstance(problems[0], InvalidConfig):
        return problems[0]
    listed = "; ".join(str(problem) for problem in problems)
    return InvalidConfig(f"invalid configuration: {listed}", problems=problems)
