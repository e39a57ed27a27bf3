"""The objects that a command is for: of arguments and selectors, or of manifests.

Guarantees: arguments mean the same as in kubectl; all manifests are read before the first
request; an object that fails is one line on stderr, and the others are still processed.
See also: `selection` (the flags), `kinds` (names of resources).
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
import msgspec

from kubeloop.errors import ConfigError, DecodeError, KubeError, TransportError, Unauthorized
from kubeloop.kit import run
from kubeloop.meta import GroupKind
from kubeloop.wire import InvalidArgument, Kind, ResourceInfo, parse_manifest

from .failures import CommandFailed, ExitCode, report
from .flags import Flags, connect
from .kinds import find_kinds, parse_targets, qualified_name, resource_client_of
from .outputs import Output, OutputType, format_objects
from .selection import Selection, manifest_flags, optional_targets_argument, selection_flags
from .terminal import print_content, print_line

if TYPE_CHECKING:
    from kubeloop.clients import ResourceClient
    from kubeloop.runtime import Client

__all__ = [
    "DryRun",
    "ObjectRef",
    "Outcomes",
    "Sources",
    "dry_run_flag",
    "find_objects",
    "in_manifests",
    "manifest_entries",
    "object_flags",
    "outcome_flags",
    "print_object",
    "process_each",
    "read_manifests",
    "run_on_objects",
    "usage_error",
    "with_sorted_keys",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

DryRun = Literal["none", "client", "server"]

_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """What the user gave: arguments and selectors, or manifests."""

    words: tuple[str, ...] = ()
    all_objects: bool = False
    all_namespaces: bool = False
    selector: str = ""
    field_selector: str = ""
    files: tuple[str, ...] = ()
    recursive: bool = False
    kustomize: str = ""

    @property
    def has_manifests(self) -> bool:
        return bool(self.files or self.kustomize)

    @property
    def selection(self) -> Selection:
        return Selection(
            all_namespaces=self.all_namespaces,
            selector=self.selector,
            field_selector=self.field_selector,
        )


def object_flags(metavar: str, *, select: bool = True) -> Callable[[F], F]:
    """The arguments and flags of `Sources`; without `select` only names and manifests."""

    def add(command: F) -> F:
        command = manifest_flags(command)
        if select:
            every = click.option(
                "--all", "all_objects", is_flag=True, help="All objects of the given kinds."
            )
            command = selection_flags(every(command))
        return optional_targets_argument(metavar)(command)

    return add


class ObjectRef(msgspec.Struct, frozen=True):
    """One object, and its content if it was listed or is in a manifest."""

    info: ResourceInfo
    name: str
    namespace: str | None = None  # None: that of the flags
    content: dict[str, Any] | None = None

    def __str__(self) -> str:
        return qualified_name(self.info, self.name)

    def client(self, client: Client) -> ResourceClient[dict[str, Any]]:
        """A client for the kind and the namespace of the object."""
        namespace = self.namespace if self.info.namespaced else None
        return resource_client_of(client, self.info, namespace=namespace)

    def namespace_in(self, client: Client) -> str:
        """The namespace of the object; empty if it has none."""
        return (self.namespace or client.namespace) if self.info.namespaced else ""


# --- outcomes


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How the results of changes are printed: a line each, or the objects."""

    output: Output | None = None
    dry_run: DryRun = "none"
    _printed: list[str] = msgspec.field(default_factory=list)  # names of printed objects

    @property
    def is_server_dry_run(self) -> bool:
        return self.dry_run == "server"

    @property
    def ending(self) -> str:
        """What follows a line, as in kubectl."""
        return {"none": "", "client": " (dry run)", "server": " (server dry run)"}[self.dry_run]

    def show(self, info: ResourceInfo, obj: dict[str, Any], what: str) -> None:
        """Print `pod/web created`, or the object."""
        name = str(obj["metadata"].get("name") or "")
        if self.output is None:
            print_line(f"{qualified_name(info, name)} {what}{self.ending}")
            return
        if self.output.format == "yaml" and self._printed:
            click.echo("---")
        self._printed.append(name)
        print_object(self.output, info, obj)


def print_object(output: Output, info: ResourceInfo, obj: dict[str, Any]) -> None:
    """Print an object without its managed fields."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    text = format_objects(output, [(info, {**obj, "metadata": metadata})], single=True)
    if output.format == "jsonpath":
        print_content(text)
    else:
        click.echo(text.removesuffix("\n"))


dry_run_flag = click.option(
    "--dry-run",
    is_flag=False,
    flag_value="server",
    default="none",
    type=click.Choice(["none", "client", "server"]),
    help="Change nothing: client sends no change, server validates it; alone, server.",
)


def outcome_flags(command: F) -> F:
    """`-o` and `--dry-run`, named as the fields of `Outcomes`."""
    for flag in (
        dry_run_flag,
        click.option(
            "-o",
            "--output",
            type=OutputType("json", "yaml", "name", "jsonpath"),
            help="Print the objects as json, yaml, name or jsonpath=TEMPLATE.",
        ),
    ):
        command = flag(command)
    return command


def with_sorted_keys(value: Any) -> Any:
    """The value with sorted keys in every map, as kubectl prints them."""
    if isinstance(value, dict):
        return {key: with_sorted_keys(value[key]) for key in sorted(value)}
    return [with_sorted_keys(each) for each in value] if isinstance(value, list) else value


async def process_each(
    flags: Flags, items: Iterable[T], process: Callable[[T], Awaitable[object]]
) -> ExitCode:
    """Process each item, and report its error; returns the exit code.

    Raises: errors that every other item would have, too.
    """
    code = ExitCode.OK
    for item in items:
        try:
            await process(item)
        except (ConfigError, TransportError, Unauthorized):
            raise
        except KubeError as error:
            code = max(code, report(error, verbose=bool(flags.verbose)))
    return code


# --- objects of arguments


def run_on_objects(
    flags: Flags,
    verb: str,
    sources: Sources,
    process: Callable[[Client, ObjectRef], Awaitable[object]],
    *,
    check: Callable[[Client, Sequence[ObjectRef]], object] | None = None,
    needs_names: bool = True,
) -> None:
    """Process each object, and end the command with the exit code.

    `check` gets all objects before the first of them is processed. Without `needs_names`, a kind
    alone means all objects of it.
    """

    async def main() -> ExitCode:
        async with connect(flags) as client:
            found, code = await find_objects(client, flags, verb, sources, needs_names=needs_names)
            if check is not None:
                check(client, found)
            return max(code, await process_each(flags, found, partial(process, client)))

    click.get_current_context().exit(run(main()))


async def find_objects(
    client: Client, flags: Flags, verb: str, sources: Sources, *, needs_names: bool = True
) -> tuple[list[ObjectRef], ExitCode]:
    """The objects, and the exit code for documents that cannot be read, which are reported.

    Objects that are selected or in a manifest have their content, those that are named have not.
    Raises: UsageError if the arguments do not fit together.
    """
    is_selected = sources.all_objects or sources.selection.has_selectors
    if bool(sources.words) == sources.has_manifests:
        raise usage_error("expected KIND NAME, KIND/NAME, or manifests with -f or -k")
    if sources.has_manifests:
        if is_selected:
            raise usage_error("manifests cannot be combined with --all or a selector")
        return await _objects_of_manifests(client, flags, verb, sources)
    if sources.all_objects and sources.selection.has_selectors:
        raise usage_error("cannot set --all and a selector at the same time")
    found: list[ObjectRef] = []
    for target in parse_targets(sources.words):
        if target.names and is_selected:
            raise usage_error("name cannot be provided when a selector is specified")
        if not target.names and not is_selected and needs_names:
            raise usage_error("resource(s) were provided, but no name was specified")
        if target.names and sources.all_namespaces:
            raise usage_error("a resource cannot be retrieved by name across all namespaces")
        for info in await find_kinds(client, target.kinds):
            if target.names:
                found += [ObjectRef(info, name) for name in target.names]
            else:
                found += await _list(client, info, sources.selection)
    return found, ExitCode.OK


async def _objects_of_manifests(
    client: Client, flags: Flags, verb: str, sources: Sources
) -> tuple[list[ObjectRef], ExitCode]:
    objects, code = read_manifests(flags, verb, sources)
    found: list[ObjectRef] = []

    async def find(obj: dict[str, Any]) -> None:
        found.append(await in_manifests(client, flags, obj))

    return found, max(code, await process_each(flags, objects, find))


def usage_error(text: str) -> click.UsageError:
    """A usage error that points to the help of the current command."""
    return click.UsageError(text, click.get_current_context(silent=True))


async def _list(client: Client, info: ResourceInfo, selection: Selection) -> list[ObjectRef]:
    namespace = selection.namespace if info.namespaced else None
    resource = resource_client_of(client, info, namespace=namespace)
    found = await resource.list_all(
        selector=selection.selector, field_selector=selection.field_selector
    )
    return [
        ObjectRef(info, str(obj["metadata"]["name"]), obj["metadata"].get("namespace"), obj)
        for obj in found
    ]


# --- objects of manifests


async def in_manifests(client: Client, flags: Flags, obj: dict[str, Any]) -> ObjectRef:
    """The object of a manifest. Raises: InvalidArgument if it is in another namespace."""
    group, _, version = str(obj["apiVersion"]).rpartition("/")
    info = await client.mapper.mapping(GroupKind(group, obj["kind"]), version)
    metadata = obj["metadata"]
    namespace = metadata.get("namespace") or None
    if info.namespaced and namespace and flags.namespace and namespace != flags.namespace:
        raise InvalidArgument(
            f"{qualified_name(info, metadata.get('name') or '')}: the namespace from the provided"
            f' object "{namespace}" does not match the namespace "{flags.namespace}"'
            f" (use --namespace={namespace})"
        )
    return ObjectRef(info, str(metadata.get("name") or ""), namespace, obj)


def read_manifests(
    flags: Flags, verb: str, sources: Sources, *, generate_names: bool = False
) -> tuple[list[dict[str, Any]], ExitCode]:
    """The objects of manifests, and the exit code for those that cannot be read.

    Each of these is reported. With `generate_names`, an object may have a generateName.
    Raises: UsageError without manifests; InvalidArgument if no object was found.
    """
    if not sources.has_manifests:
        raise usage_error("must specify one of -f and -k")
    objects: list[dict[str, Any]] = []
    errors: list[KubeError] = []
    for place, entry in manifest_entries(verb, sources):
        if isinstance(entry, KubeError):
            errors.append(entry)
        elif problem := _problem(verb, place, entry, generate_names=generate_names):
            errors.append(problem)
        else:
            objects.append(entry)
    if not objects and not errors:
        named = ", ".join([*sources.files, *filter(None, [sources.kustomize])])
        raise InvalidArgument(f"{verb} {named}: no objects found")
    codes = [report(error, verbose=bool(flags.verbose)) for error in errors]
    return objects, max(codes, default=ExitCode.OK)


def manifest_entries(
    verb: str, sources: Sources
) -> Iterator[tuple[str, dict[str, Any] | KubeError]]:
    """Each object of the manifests, or its error, and where it is."""
    for source, text in _texts(verb, sources):
        if isinstance(text, KubeError):
            yield source, text
            continue
        try:
            entries = parse_manifest(text, source=source)
        except DecodeError as error:
            yield source, error
            continue
        for place, entry in entries:
            yield place, entry.to_dict() if isinstance(entry, Kind) else entry


def _problem(
    verb: str, place: str, obj: dict[str, Any], *, generate_names: bool
) -> InvalidArgument | None:
    if str(obj["apiVersion"]).startswith("kustomize.config.k8s.io/"):
        return _kustomization(verb, place, Path("DIR"))
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return InvalidArgument(f"{verb} {place}: metadata must be an object")
    name = (metadata or {}).get("name")
    if generate_names and not name:
        name = (metadata or {}).get("generateName")
    if not isinstance(name, str) or not name:
        return InvalidArgument(f"{verb} {place}: the {obj['kind']} has no name")
    return None


def _texts(verb: str, sources: Sources) -> Iterator[tuple[str, bytes | KubeError]]:
    """The text of each manifest, and its name."""
    for given in sources.files:
        if given == "-":
            yield "", sys.stdin.buffer.read()
        elif given.startswith(("http://", "https://")):
            from .download import download

            yield given, download(verb, given)
        else:
            yield from _files_at(verb, given, recursive=sources.recursive)
    if sources.kustomize:
        yield sources.kustomize, _build(verb, sources.kustomize)


def _files_at(verb: str, given: str, *, recursive: bool) -> Iterator[tuple[str, bytes | KubeError]]:
    path = Path(given)
    try:
        files = [path]
        if path.is_dir():
            found = path.rglob("*") if recursive else path.iterdir()
            files = sorted(each for each in found if each.suffix in _SUFFIXES and each.is_file())
            if not files:
                suffixes = ", ".join(_SUFFIXES)
                yield (
                    given,
                    InvalidArgument(
                        f"{verb} {path}: no manifest in this folder (expected {suffixes})"
                    ),
                )
        for file in files:
            if file.name in _KUSTOMIZATIONS and file.exists():
                yield given, _kustomization(verb, str(file), file.parent)
                return
        for file in files:
            yield str(file), file.read_bytes()
    except (OSError, ValueError) as error:  # a path cannot contain NUL
        reason = getattr(error, "strerror", None) or error
        name = getattr(error, "filename", None) or given
        yield given, InvalidArgument(f"{verb} {name}: cannot read it: {reason}")


def _kustomization(verb: str, source: str, folder: Path) -> InvalidArgument:
    import shlex

    return InvalidArgument(
        f"{verb} {source}: a kustomization must be built first"
        f" (use kubeloop {verb} -k {shlex.quote(str(folder))})"
    )


def _build(verb: str, folder: str) -> bytes | KubeError:
    """A kustomization, built by an installed program."""
    import shutil
    import subprocess

    program = shutil.which("kustomize")
    command = [program, "build"] if program else [shutil.which("kubectl") or "", "kustomize"]
    if not command[0]:
        return CommandFailed(
            f"{verb} -k {folder}: neither kustomize nor kubectl is installed (install one of them)"
        )
    done = subprocess.run([*command, folder], capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().removeprefix("Error: ")
        name = " ".join([Path(command[0]).name, command[1], folder])
        return CommandFailed(f"{verb} -k {folder}: {name} failed: {last.removeprefix('error: ')}")
    return done.stdout
