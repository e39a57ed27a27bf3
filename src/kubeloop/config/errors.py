"""What can be wrong before a request is made, told apart where a caller can act on it.

```
ConfigError
├── InvalidConfig          the configuration contradicts itself; `faults` lists every reason
│   ├── EmptyConfig        nothing was configured at all
│   └── ContextNotFound    the context that was asked for is not in the kubeconfig
├── KubeconfigLocked       somebody else is writing the file
├── NotInCluster           this process does not run in a pod
├── NoCredentials          nobody said who is asking, nor that nobody is
└── CredentialError        credentials were configured and could not be had
    └── PluginError        the exec plugin failed, printed rubbish or hung
        ├── PluginNotFound
        └── PluginDenied   the plugin policy does not allow it
```

Promises: no message contains a token, a password, a key or what a plugin printed
on its standard output.
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
    """A configuration that cannot be used; `faults` holds each reason on its own."""

    def __init__(self, message: str, *, faults: Sequence[ConfigError] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    def has(self, kind: type[ConfigError]) -> bool:
        """Whether this error or one of its faults is a `kind`."""
        return isinstance(self, kind) or any(isinstance(fault, kind) for fault in self.faults)


class EmptyConfig(InvalidConfig):
    """Nothing was configured."""

    def __init__(self, tried: str = "") -> None:
        said = f"no configuration has been provided{': ' if tried else ''}{tried}"
        super().__init__(said)
        self.with_hint("set KUBECONFIG, or run inside a pod", python="pass kubeconfig=")


class ContextNotFound(InvalidConfig):
    """The context that was asked for does not exist."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        there = ", ".join(sorted(known)) or "none"
        super().__init__(
            f'context "{name}" does not exist, the kubeconfig has: {there}'
            " (choose one of them, or set current-context)"
        )
        self.name = name


class KubeconfigLocked(ConfigError):
    """Another process is writing the kubeconfig, or died while it did."""


class NotInCluster(ConfigError):
    """This process does not run in a pod, or the pod has no service account."""


class NoCredentials(ConfigError):
    """No credentials are configured, and anonymous requests were not asked for."""


class CredentialError(ConfigError):
    """Credentials are configured, and could not be had."""


class PluginError(CredentialError):
    """An exec plugin failed, printed rubbish or hung."""


class PluginNotFound(PluginError):
    """The plugin's program is not installed."""


class PluginDenied(PluginError):
    """The plugin policy does not allow the program to be run."""


def as_one_error(faults: Sequence[ConfigError]) -> InvalidConfig:
    """One error for `faults`, which must not be empty; a fault of a known kind stays itself."""
    if len(faults) == 1 and isinstance(faults[0], InvalidConfig):
        return faults[0]
    listed = "; ".join(str(fault) for fault in faults)
    return InvalidConfig(f"invalid configuration: {listed}", faults=faults)
