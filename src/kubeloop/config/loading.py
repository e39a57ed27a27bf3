"""Which kubeconfig files are read, in which order, and how they become one config.

Promises: no file is read before `load_files`; a file that cannot be read does not
hide the others; relative paths mean what they meant beside the file they stood in.
Elsewhere: the format (`parsing`), the choice of a context (`overrides`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from kubeloop.wire import get_logger

from .errors import ConfigError, InvalidConfig, as_one_error
from .kubeconfig import Entry, Kubeconfig, User, has_path_separator, merge
from .parsing import parse_kubeconfig

__all__ = [
    "KubeconfigFiles",
    "Loaded",
    "home_directory",
    "load_files",
    "load_kubeconfig",
    "with_absolute_paths",
]

log = get_logger(__name__)

E = TypeVar("E", bound=Entry)


class KubeconfigFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The rules by which kubeconfig files are found; an explicit file is the only one."""

    explicit: str = ""
    precedence: tuple[str, ...] = ()
    warn_if_all_missing: bool = False
    legacy: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # the file to make, and the old one it is copied from
    resolve_paths: bool = True

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str] | None = None, *, explicit: str | os.PathLike[str] = ""
    ) -> KubeconfigFiles:
        """What KUBECONFIG names, or else the file in the home directory."""
        variables = os.environ if environ is None else environ
        path = os.path.expanduser(os.fspath(explicit)) if explicit else ""  # noqa: PTH111
        listed = variables.get("KUBECONFIG", "")
        if listed:
            names = tuple(dict.fromkeys(filter(None, listed.split(os.pathsep))))
            return cls(explicit=path, precedence=names, warn_if_all_missing=True)
        home = home_directory(variables)
        if not home:
            return cls(explicit=path)
        usual, old = str(home / ".kube" / "config"), str(home / ".kube" / ".kubeconfig")
        return cls(explicit=path, precedence=(usual,), legacy={usual: old})

    def default_file(self, *, otherwise: Literal["first", "last"] = "last") -> str:
        """Where a new entry goes: the explicit file, the first that exists, or the last."""
        if self.explicit:
            return self.explicit
        existing = (name for name in self.precedence if Path(name).exists())
        fallback = self.precedence[0 if otherwise == "first" else -1] if self.precedence else ""
        return next(existing, fallback)

    @property
    def names(self) -> tuple[str, ...]:
        """The files in the order they are read."""
        return (self.explicit,) if self.explicit else self.precedence


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What the files say together, and what was wrong with some of them."""

    config: Kubeconfig
    faults: tuple[ConfigError, ...] = ()
    missing: tuple[str, ...] = ()


def load_kubeconfig(
    path: str | os.PathLike[str] = "", *, environ: Mapping[str, str] | None = None
) -> Kubeconfig:
    """The config of one file, or of all files that the environment names, merged.

    Raises: `InvalidConfig` naming every file that could not be read.
    """
    loaded = load_files(KubeconfigFiles.from_environ(environ, explicit=path))
    if loaded.faults:
        raise as_one_error(loaded.faults)
    return loaded.config


def load_files(files: KubeconfigFiles, *, warn: Callable[[str], None] | None = None) -> Loaded:
    """Read and merge what `files` names; `warn` is told when none of them exists."""
    _migrate(files.legacy)
    configs: list[Kubeconfig] = []
    faults: list[ConfigError] = []
    missing: list[str] = []
    for name in files.names:
        try:
            configs.append(_read(name))
        except FileNotFoundError:
            missing.append(name)
        except ConfigError as error:
            faults.append(error)
    if missing and files.explicit:
        faults.append(_not_there(files.explicit))
    if missing and not configs and not faults and files.warn_if_all_missing:
        (warn or log.warning)(f"KUBECONFIG: none of these files exists: {', '.join(missing)}")
    merged = merge(configs)
    config = with_absolute_paths(merged) if files.resolve_paths else merged
    return Loaded(config=config, faults=tuple(faults), missing=tuple(missing))


def with_absolute_paths(config: Kubeconfig) -> Kubeconfig:
    """`config` with every file named in full; entries without an origin stay as they are."""
    return msgspec.structs.replace(
        config,
        clusters={name: _resolved(entry) for name, entry in config.clusters.items()},
        users={name: _resolved_user(entry) for name, entry in config.users.items()},
    )


def home_directory(environ: Mapping[str, str], *, platform: str = os.name) -> Path | None:
    """The user's home by the variables that `platform` has for it; None when none is set."""
    if platform != "nt":
        home = environ.get("HOME", "")
        return Path(home) if home else None
    return _windows_home(environ)


def _windows_home(environ: Mapping[str, str]) -> Path | None:
    home, profile = environ.get("HOME", ""), environ.get("USERPROFILE", "")
    drive = environ.get("HOMEDRIVE", ""), environ.get("HOMEPATH", "")
    drive_path = "".join(drive) if all(drive) else ""
    for path in _paths(home, drive_path, profile):
        if (path / ".kube" / "config").exists():
            return path
    candidates = _paths(home, profile, drive_path)
    existing = [path for path in candidates if path.exists()]
    writable = [path for path in existing if os.access(path, os.W_OK)]
    return next(iter([*writable, *existing, *candidates]), None)


def _paths(*names: str) -> list[Path]:
    return [Path(name) for name in names if name]


def _read(name: str) -> Kubeconfig:
    try:
        text = Path(name).read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InvalidConfig(
            f"reading {name}: {error.strerror} (make the file readable, or take it out of the list)"
        ) from error
    return parse_kubeconfig(text, origin=name)


def _not_there(name: str) -> ConfigError:
    return InvalidConfig(f"reading {name}: no such file (check the path that was given)")


def _migrate(legacy: Mapping[str, str]) -> None:
    """Copy the file from its old place where the new one does not exist yet."""
    for new, old in legacy.items():
        source, target = Path(old), Path(new)
        if target.exists() or not source.exists():
            continue
        if source.is_dir():
            raise InvalidConfig(f"copying {old} to {new}: it is a directory (move it away)")
        try:
            _copy(source, target)
        except OSError as error:
            log.warning("%s: not copied to %s: %s", old, new, error.strerror)
        else:
            log.info("%s: copied to %s", old, new)


def _copy(source: Path, target: Path) -> None:
    mode = source.stat().st_mode & 0o666
    with source.open("rb") as old:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as new:
            shutil.copyfileobj(old, new)
    target.chmod(mode)


def _resolved(entry: E) -> E:
    origin: str = getattr(entry, "origin", "")
    return _with_paths(entry, entry.paths, Path(origin).absolute().parent) if origin else entry


def _resolved_user(user: User) -> User:
    resolved = _resolved(user)
    plugin = resolved.exec
    if not resolved.origin or plugin is None or not has_path_separator(plugin.command):
        return resolved
    base = Path(resolved.origin).absolute().parent
    return msgspec.structs.replace(resolved, exec=_with_paths(plugin, ("command",), base))


def _with_paths(entry: E, names: Iterable[str], base: Path) -> E:
    given: Sequence[tuple[str, str]] = [(n, getattr(entry, n)) for n in names if getattr(entry, n)]
    absolute = {name: os.path.normpath(base / path) for name, path in given}
    return msgspec.structs.replace(entry, **absolute)
