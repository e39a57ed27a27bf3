"""Which kubeconfig files are read, in which order, and how they are merged.

Guarantees: no file is read before `load_files`; a file that cannot be read does not hide the
others; relative paths are relative to the file that has them.
See also: `parsing` (the format), `overrides` (selects a context).
"""

from __future__ import annotations

import os
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
    "LoadedFiles",
    "home_directory",
    "load_files",
    "load_kubeconfig",
    "with_absolute_paths",
]

log = get_logger(__name__)

E = TypeVar("E", bound=Entry)


class KubeconfigFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The kubeconfig files to read; with an explicit file only that one."""

    explicit: str = ""
    precedence: tuple[str, ...] = ()
    warn_if_all_missing: bool = False
    legacy: Mapping[str, str] = msgspec.field(
        default_factory=dict
    )  # from a new file to the old one that it is copied from
    resolve_paths: bool = True

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str] | None = None, *, explicit: str | os.PathLike[str] = ""
    ) -> KubeconfigFiles:
        """The files in KUBECONFIG, or the one in the home directory."""
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
        """The file for new entries: the explicit one, the first that exists, or the last."""
        if self.explicit:
            return self.explicit
        existing = (name for name in self.precedence if Path(name).exists())
        fallback = self.precedence[0 if otherwise == "first" else -1] if self.precedence else ""
        return next(existing, fallback)

    @property
    def names(self) -> tuple[str, ...]:
        """The files in the order of reading."""
        return (self.explicit,) if self.explicit else self.precedence


class LoadedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The merged config of several files, and the problems of some of them."""

    config: Kubeconfig
    problems: tuple[ConfigError, ...] = ()
    missing: tuple[str, ...] = ()


def load_kubeconfig(
    path: str | os.PathLike[str] = "", *, environ: Mapping[str, str] | None = None
) -> Kubeconfig:
    """The config of one file, or the merged config of the default files.

    Raises: `InvalidConfig` with every file that cannot be read.
    """
    loaded = load_files(KubeconfigFiles.from_environ(environ, explicit=path))
    if loaded.problems:
        raise as_one_error(loaded.problems)
    return loaded.config


def load_files(files: KubeconfigFiles, *, warn: Callable[[str], None] | None = None) -> LoadedFiles:
    """Read and merge `files`; `warn` is called if none of them exists."""
    _migrate(files.legacy)
    configs: list[Kubeconfig] = []
    problems: list[ConfigError] = []
    missing: list[str] = []
    for name in files.names:
        try:
            configs.append(_read(name))
        except FileNotFoundError:
            missing.append(name)
        except ConfigError as error:
            problems.append(error)
    if missing and files.explicit:
        problems.append(_missing_file(files.explicit))
    if missing and not configs and not problems and files.warn_if_all_missing:
        (warn or log.warning)(f"KUBECONFIG: none of these files exists: {', '.join(missing)}")
    merged = merge(configs)
    config = with_absolute_paths(merged) if files.resolve_paths else merged
    return LoadedFiles(config=config, problems=tuple(problems), missing=tuple(missing))


def with_absolute_paths(config: Kubeconfig) -> Kubeconfig:
    """`config` with absolute paths; entries without an origin are unchanged."""
    return msgspec.structs.replace(
        config,
        clusters={name: _resolve_paths(entry) for name, entry in config.clusters.items()},
        users={name: _resolve_user_paths(entry) for name, entry in config.users.items()},
    )


def home_directory(environ: Mapping[str, str], *, platform: str = os.name) -> Path | None:
    """The home directory of the user on a platform; None if no variable has it."""
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
            f"reading {name}: {error.strerror} (make it readable, or remove it from KUBECONFIG)"
        ) from error
    return parse_kubeconfig(text, origin=name)


def _missing_file(name: str) -> ConfigError:
    return InvalidConfig(f"reading {name}: no such file (check the path)")


def _migrate(legacy: Mapping[str, str]) -> None:
    """Copy the file from its old location if the new one does not exist."""
    for new, old in legacy.items():
        source, target = Path(old), Path(new)
        if target.exists() or not source.exists():
            continue
        if source.is_dir():
            raise InvalidConfig(f"copying {old} to {new}: it is a directory (remove it)")
        try:
            _copy(source, target)
        except OSError as error:
            log.warning("%s: cannot copy it to %s: %s", old, new, error.strerror)
        else:
            log.info("%s: copied to %s", old, new)


def _copy(source: Path, target: Path) -> None:
    mode = source.stat().st_mode & 0o666
    with source.open("rb") as old:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as new:
            new.write(old.read())
    target.chmod(mode)


def _resolve_paths(entry: E) -> E:
    origin: str = getattr(entry, "origin", "")
    return _with_paths(entry, entry.paths, Path(origin).absolute().parent) if origin else entry


def _resolve_user_paths(user: User) -> User:
    resolved = _resolve_paths(user)
    plugin = resolved.exec
    if not resolved.origin or plugin is None or not has_path_separator(plugin.command):
        return resolved
    base = Path(resolved.origin).absolute().parent
    return msgspec.structs.replace(resolved, exec=_with_paths(plugin, ("command",), base))


def _with_paths(entry: E, names: Iterable[str], base: Path) -> E:
    given: Sequence[tuple[str, str]] = [(n, getattr(entry, n)) for n in names if getattr(entry, n)]
    absolute = {name: os.path.normpath(base / path) for name, path in given}
    return msgspec.structs.replace(entry, **absolute)
