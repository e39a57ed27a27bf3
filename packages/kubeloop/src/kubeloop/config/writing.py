"""Changes kubeconfig files: only the entries that differ, each in its file.

Guarantees: unknown keys survive; a file is replaced atomically, with mode 0600; during a change
`<file>.lock` excludes kubectl and other clients of client-go.
See also: `loading` (which files), `parsing` (the format).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from .errors import ConfigError, ContextNotFound, KubeconfigLocked, as_one_error
from .kubeconfig import Cluster, Context, Entry, Kubeconfig, User, has_path_separator, overlay
from .loading import KubeconfigFiles, load_files
from .parsing import as_text, read_document, to_wire

__all__ = [
    "delete_entry",
    "modify_kubeconfig",
    "set_cluster",
    "set_context",
    "set_credentials",
    "update_kubeconfig",
    "use_context",
    "write_kubeconfig",
]

E = TypeVar("E", bound=Entry)
Section = Literal["clusters", "users", "contexts"]

_INNER: dict[Section, str] = {"clusters": "cluster", "users": "user", "contexts": "context"}


class _Edit(msgspec.Struct, frozen=True):
    """One entry of a file to write, or to delete if `entry` is None."""

    section: Section
    name: str
    entry: Entry | None


class _TopEdit(msgspec.Struct, frozen=True):
    """A top-level key of a file to set, or to delete if `value` is None."""

    key: str
    value: object


def set_context(
    name: str,
    *,
    cluster: str = "",
    user: str = "",
    namespace: str = "",
    files: KubeconfigFiles | None = None,
) -> None:
    """Create or change a context; empty fields stay as they are."""
    given = Context(cluster=cluster, user=user, namespace=namespace)
    update_kubeconfig(lambda config: _with_entry(config, "contexts", name, given), files=files)


def set_credentials(name: str, user: User, *, files: KubeconfigFiles | None = None) -> None:
    """Create or change a user; empty fields stay as they are."""
    update_kubeconfig(lambda config: _with_entry(config, "users", name, user), files=files)


def set_cluster(name: str, cluster: Cluster, *, files: KubeconfigFiles | None = None) -> None:
    """Create or change a cluster; empty fields stay as they are."""
    update_kubeconfig(lambda config: _with_entry(config, "clusters", name, cluster), files=files)


def use_context(name: str, *, files: KubeconfigFiles | None = None) -> None:
    """Make `name` the current context; the empty name clears it.

    Raises: `ContextNotFound` when there is no such context.
    """

    def choose(config: Kubeconfig) -> Kubeconfig:
        if name and name not in config.contexts:
            raise ContextNotFound(name, tuple(config.contexts))
        return msgspec.structs.replace(config, current_context=name)

    update_kubeconfig(choose, files=files)


def delete_entry(section: Section, name: str, *, files: KubeconfigFiles | None = None) -> None:
    """Delete an entry from its file, if it exists."""

    def without(config: Kubeconfig) -> Kubeconfig:
        kept = {k: entry for k, entry in getattr(config, section).items() if k != name}
        return msgspec.structs.replace(config, **{section: kept})

    update_kubeconfig(without, files=files)


def update_kubeconfig(
    change: Callable[[Kubeconfig], Kubeconfig], *, files: KubeconfigFiles | None = None
) -> None:
    """Read, change and write under one lock, so that no concurrent edit is lost.

    Raises: `KubeconfigLocked` when another process is writing, `InvalidConfig` when a file
    cannot be read; then nothing is written.
    """
    rules = files or KubeconfigFiles.from_environ()
    with _lock_files({*rules.names, rules.default_file()} - {""}):
        before = _starting_config(rules)
        _write_difference(before, change(before), rules)


def modify_kubeconfig(new: Kubeconfig, *, files: KubeconfigFiles | None = None) -> None:
    """Change the files to `new`, by writing the entries that differ."""
    update_kubeconfig(lambda _: new, files=files)


def write_kubeconfig(config: Kubeconfig, path: str | os.PathLike[str]) -> None:
    """Write `config` to one file, and replace its content."""
    document: dict[str, object] = {"apiVersion": "v1", "kind": "Config"}
    for section, inner in _INNER.items():
        entries: Mapping[str, Entry] = getattr(config, section)
        document[section] = [
            {"name": name, inner: to_wire(_relative(entries[name], Path(path)))}
            for name in sorted(entries)
        ]
    extensions = [
        {"name": name, "extension": config.extensions[name]} for name in sorted(config.extensions)
    ]
    document |= {"extensions": extensions} if extensions else {}
    document |= {"current-context": config.current_context, "preferences": config.preferences}
    _replace_file(Path(path), document)


def _with_entry(config: Kubeconfig, section: Section, name: str, given: Entry) -> Kubeconfig:
    entries: dict[str, Entry] = dict(getattr(config, section))
    entries[name] = overlay(entries[name], given) if name in entries else given
    return msgspec.structs.replace(config, **{section: entries})


def _starting_config(files: KubeconfigFiles) -> Kubeconfig:
    loaded = load_files(msgspec.structs.replace(files, warn_if_all_missing=False))
    # A missing file will be created; with any other problem data would be lost.
    problems = () if files.explicit in loaded.missing else loaded.problems
    if problems:
        raise as_one_error(problems)
    return loaded.config


def _write_difference(before: Kubeconfig, after: Kubeconfig, files: KubeconfigFiles) -> None:
    edits: dict[str, list[_Edit | _TopEdit]] = {}
    default = files.default_file()
    for section in _INNER:
        for edit, origin in _entry_edits(
            section, getattr(before, section), getattr(after, section)
        ):
            edits.setdefault(origin or default, []).append(edit)
    for top, origin in _top_edits(before, after, files):
        edits.setdefault(origin, []).append(top)
    for name, listed in edits.items():
        if not name:
            raise ConfigError(
                "writing a kubeconfig: no file is configured (set KUBECONFIG or HOME)"
            )
        _apply(Path(name), listed)


def _entry_edits(
    section: Section, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> Iterator[tuple[_Edit, str]]:
    for name, entry in after.items():
        if before.get(name) != entry:
            # An entry stays in its file even if the caller created a new value.
            origin = getattr(entry, "origin", "") or getattr(before.get(name), "origin", "")
            yield _Edit(section, name, entry), origin
    for name, entry in before.items():
        if name not in after:
            yield _Edit(section, name, None), getattr(entry, "origin", "")


def _top_edits(
    before: Kubeconfig, after: Kubeconfig, files: KubeconfigFiles
) -> Iterator[tuple[_TopEdit, str]]:
    if before.current_context != after.current_context:
        name = after.current_context
        file = files.default_file() if name else _first_with_context(files)
        yield _TopEdit("current-context", name), file
    if before.preferences != after.preferences:
        yield _TopEdit("preferences", after.preferences), files.default_file()
    if before.extensions != after.extensions:
        listed = [{"name": n, "extension": after.extensions[n]} for n in sorted(after.extensions)]
        yield _TopEdit("extensions", listed), files.default_file()


def _first_with_context(files: KubeconfigFiles) -> str:
    for name in files.names:
        if _document(Path(name)).get("current-context"):
            return name
    return files.default_file()


def _apply(path: Path, edits: Iterable[_Edit | _TopEdit]) -> None:
    document = {"apiVersion": "v1", "kind": "Config", **_document(path)}
    for edit in edits:
        match edit:
            case _TopEdit(key, value):
                document[key] = value
            case _Edit(section=section):
                document[section] = _edit_list(document.get(section), edit, path)
    _replace_file(path, document)


def _edit_list(listed: object, edit: _Edit, path: Path) -> list[dict[str, object]]:
    """The list of a section after one edit, sorted by name."""
    given = listed if isinstance(listed, list) else []
    items: list[dict[str, object]] = [item for item in given if isinstance(item, dict)]
    old = next((item for item in items if as_text(item.get("name")) == edit.name), None)
    kept = [item for item in items if item is not old]
    if edit.entry is not None:
        entry, inner = _relative(edit.entry, path), _INNER[edit.section]
        body = _rewrite((old or {}).get(inner), entry)
        kept.append({**(old or {}), "name": edit.name, inner: body})
    return sorted(kept, key=lambda item: str(as_text(item.get("name", ""))))


def _rewrite(raw: object, entry: Entry) -> dict[str, object]:
    """`raw` with all known keys as in `entry`, and its unknown keys unchanged."""
    old: dict[str, object] = dict(raw) if isinstance(raw, dict) else {}
    new = to_wire(entry)
    for field in msgspec.structs.fields(type(entry)):
        key, value = field.encode_name, getattr(entry, field.name)
        if field.name in entry.unwritten:
            continue
        if isinstance(value, Entry):
            old[key] = _rewrite(old.get(key), value)
        elif key in new:
            old[key] = new[key]
        else:
            old.pop(key, None)
    return old


def _relative(entry: E, path: Path) -> E:
    """`entry` with file names relative to `path`, if that needs no `..`."""
    base = path.absolute().parent
    changes: dict[str, object] = {
        name: _from(base, getattr(entry, name)) for name in entry.paths if getattr(entry, name)
    }
    if isinstance(entry, User) and entry.exec and has_path_separator(entry.exec.command):
        command = _from(base, entry.exec.command)
        # Without a separator it would be searched in PATH.
        here = command if has_path_separator(command) else f"{os.curdir}{os.sep}{command}"
        changes["exec"] = msgspec.structs.replace(entry.exec, command=here)
    return msgspec.structs.replace(entry, **changes)


def _from(base: Path, name: str) -> str:
    full = os.path.normpath(base / name)
    try:
        relative = os.path.relpath(full, base)
    except ValueError:
        return name  # another drive
    if relative.split(os.sep, 1)[0] != os.pardir:
        return relative
    if Path(name).is_absolute():
        return name
    raise ConfigError(f"writing {name}: it is outside of {base} (use an absolute path)")


def _document(path: Path) -> dict[str, object]:
    try:
        return read_document(path.read_bytes(), origin=str(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"reading {path}: {error.strerror} (make it readable)") from error


def _replace_file(path: Path, document: Mapping[str, object]) -> None:
    from kubeloop.wire.yaml import dump_document  # slow to import, and rarely needed

    target = Path(os.path.realpath(path))  # keeps symbolic links
    try:
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        # mkstemp creates the file with mode 0600.
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dump_document(document))
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink()
            raise
    except OSError as error:
        raise ConfigError(f"writing {path}: {error.strerror} (check its directory)") from error


@contextlib.contextmanager
def _lock_files(names: Iterable[str]) -> Iterator[None]:
    """Hold the lock of every file, acquired in sorted order to avoid a deadlock."""
    with contextlib.ExitStack() as held:
        for name in sorted(names):
            lock = Path(f"{name}.lock")
            _acquire_lock(lock)
            held.callback(lock.unlink, missing_ok=True)
        yield


def _acquire_lock(lock: Path) -> None:
    try:
        lock.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise KubeconfigLocked(
            f"writing a kubeconfig: {lock} exists, another process may be writing"
            " (try again; remove it if no process is)"
        ) from error
    except OSError as error:
        raise ConfigError(f"writing {lock}: {error.strerror} (check its directory)") from error
