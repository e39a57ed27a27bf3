"""Changes kubeconfig files on disk: only the entries that differ, each in its own file.

Promises: keys that we do not know survive every edit; a file is replaced in one
step with mode 0600, so a reader sees the old one or the new one; while we write,
`<file>.lock` keeps kubectl and its kin away, and is gone afterwards.
Elsewhere: which files there are (`loading`), how they are spelled (`parsing`).
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
from .kubeconfig import Cluster, Context, Entry, Kubeconfig, User, has_path_separator, overlaid
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
    """One entry of one file to be written, or to be taken out where `entry` is None."""

    section: Section
    name: str
    entry: Entry | None


class _TopEdit(msgspec.Struct, frozen=True):
    """A key of the file itself, to be set or (None) taken out."""

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
    """Make or change a context; what is not given stays as it is."""
    given = Context(cluster=cluster, user=user, namespace=namespace)
    update_kubeconfig(lambda config: _with_entry(config, "contexts", name, given), files=files)


def set_credentials(name: str, user: User, *, files: KubeconfigFiles | None = None) -> None:
    """Make or change a user; what `user` leaves empty stays as it is."""
    update_kubeconfig(lambda config: _with_entry(config, "users", name, user), files=files)


def set_cluster(name: str, cluster: Cluster, *, files: KubeconfigFiles | None = None) -> None:
    """Make or change a cluster; what `cluster` leaves empty stays as it is."""
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
    """Take an entry out of the file it came from; none of that name is no error."""

    def without(config: Kubeconfig) -> Kubeconfig:
        kept = {k: entry for k, entry in getattr(config, section).items() if k != name}
        return msgspec.structs.replace(config, **{section: kept})

    update_kubeconfig(without, files=files)


def update_kubeconfig(
    change: Callable[[Kubeconfig], Kubeconfig], *, files: KubeconfigFiles | None = None
) -> None:
    """Read, change and write under one lock, so that no edit in between is lost.

    Raises: `KubeconfigLocked` when somebody else is writing, `InvalidConfig` when a
    file cannot be read; then nothing is written.
    """
    rules = files or KubeconfigFiles.from_environ()
    with _locked({*rules.names, rules.default_file()} - {""}):
        before = _starting_config(rules)
        _write_difference(before, change(before), rules)


def modify_kubeconfig(new: Kubeconfig, *, files: KubeconfigFiles | None = None) -> None:
    """Make the files say what `new` says, by writing the entries that differ."""
    update_kubeconfig(lambda _: new, files=files)


def write_kubeconfig(config: Kubeconfig, path: str | os.PathLike[str]) -> None:
    """Write all of `config` to one file, in place of whatever is there."""
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
    entries[name] = overlaid(entries[name], given) if name in entries else given
    return msgspec.structs.replace(config, **{section: entries})


def _starting_config(files: KubeconfigFiles) -> Kubeconfig:
    loaded = load_files(msgspec.structs.replace(files, warn_if_all_missing=False))
    # A file that does not exist yet is about to be made; any other fault would be lost data.
    faults = () if files.explicit in loaded.missing else loaded.faults
    if faults:
        raise as_one_error(faults)
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
            raise ConfigError("writing a kubeconfig: no file is named (set KUBECONFIG or HOME)")
        _apply(Path(name), listed)


def _entry_edits(
    section: Section, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> Iterator[tuple[_Edit, str]]:
    for name, entry in after.items():
        if before.get(name) != entry:
            # An entry keeps its home even when the caller built it anew.
            home = getattr(entry, "origin", "") or getattr(before.get(name), "origin", "")
            yield _Edit(section, name, entry), home
    for name, entry in before.items():
        if name not in after:
            yield _Edit(section, name, None), getattr(entry, "origin", "")


def _top_edits(
    before: Kubeconfig, after: Kubeconfig, files: KubeconfigFiles
) -> Iterator[tuple[_TopEdit, str]]:
    if before.current_context != after.current_context:
        name = after.current_context
        home = files.default_file() if name else _first_with_context(files)
        yield _TopEdit("current-context", name), home
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
                document[section] = _edited(document.get(section), edit, path)
    _replace_file(path, document)


def _edited(listed: object, edit: _Edit, path: Path) -> list[dict[str, object]]:
    """The list of a section after one edit, sorted by name."""
    given = listed if isinstance(listed, list) else []
    items: list[dict[str, object]] = [item for item in given if isinstance(item, dict)]
    old = next((item for item in items if as_text(item.get("name")) == edit.name), None)
    kept = [item for item in items if item is not old]
    if edit.entry is not None:
        entry, inner = _relative(edit.entry, path), _INNER[edit.section]
        body = _rewritten((old or {}).get(inner), entry)
        kept.append({**(old or {}), "name": edit.name, inner: body})
    return sorted(kept, key=lambda item: str(as_text(item.get("name", ""))))


def _rewritten(raw: object, entry: Entry) -> dict[str, object]:
    """`raw` with every key that we know set as `entry` has it, and the others left alone."""
    old: dict[str, object] = dict(raw) if isinstance(raw, dict) else {}
    new = to_wire(entry)
    for field in msgspec.structs.fields(type(entry)):
        key, value = field.encode_name, getattr(entry, field.name)
        if field.name in entry.unwritten:
            continue
        if isinstance(value, Entry):
            old[key] = _rewritten(old.get(key), value)
        elif key in new:
            old[key] = new[key]
        else:
            old.pop(key, None)
    return old


def _relative(entry: E, path: Path) -> E:
    """`entry` with its files named from where `path` is, as long as that needs no `..`."""
    base = path.absolute().parent
    changes: dict[str, object] = {
        name: _from(base, getattr(entry, name)) for name in entry.paths if getattr(entry, name)
    }
    if isinstance(entry, User) and entry.exec and has_path_separator(entry.exec.command):
        command = _from(base, entry.exec.command)
        # Without a separator it would be looked up in PATH.
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
    raise ConfigError(f"writing {name}: it lies outside {base} (give its absolute path)")


def _document(path: Path) -> dict[str, object]:
    try:
        return read_document(path.read_bytes(), origin=str(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"reading {path}: {error.strerror} (make it readable)") from error


def _replace_file(path: Path, document: Mapping[str, object]) -> None:
    from kubeloop.wire.yaml import dump_document  # most programs write none

    target = Path(os.path.realpath(path))  # a link stays a link
    try:
        target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        # mkstemp makes the file with mode 0600, and it is never anything wider.
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
def _locked(names: Iterable[str]) -> Iterator[None]:
    """Hold the lock of every file, taken in one order so that two of us cannot cross."""
    with contextlib.ExitStack() as held:
        for name in sorted(names):
            lock = Path(f"{name}.lock")
            _take(lock)
            held.callback(lock.unlink, missing_ok=True)
        yield


def _take(lock: Path) -> None:
    try:
        lock.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise KubeconfigLocked(
            f"writing a kubeconfig: {lock} exists, so somebody else is writing"
            " (try again; remove it when nobody is)"
        ) from error
    except OSError as error:
        raise ConfigError(f"writing {lock}: {error.strerror} (check its directory)") from error
