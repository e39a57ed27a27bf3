"""CustomResourceDefinitions: what one says, made ready to be served.

Promises: a `CustomKind` is a value made of a definition that was found good, equal to one
that says the same; a changed definition makes a new one. Definitions are never changed.
Elsewhere: what is refused (`crd_validation`), what schemas do (`schemas`), how kinds are
served (`registry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, final

import msgspec

from kubeloop.meta import api_version_rank
from kubeloop.wire import TypeFacts

from ..statuses import Cause, invalid
from ..values import causes
from .crd_validation import problems_of_crd
from .schemas import Schema

__all__ = [
    "AGE_COLUMN",
    "GROUP",
    "KIND",
    "Column",
    "CustomKind",
    "CustomVersion",
    "Scale",
    "default_crd",
    "problems_of_crd",
    "status_of",
]

GROUP: Final = "apiextensions.k8s.io"
KIND: Final = "CustomResourceDefinition"


class Column(msgspec.Struct, frozen=True):
    """One column of the table that `kubectl get` shows, beside the name."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


AGE_COLUMN: Final = Column("Age", "date", ".metadata.creationTimestamp")


class Scale(msgspec.Struct, frozen=True):
    """Where the numbers of the scale subresource stand, as paths: `.spec.replicas`."""

    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str = ""

    def problems_of(self, obj: Mapping[str, Any]) -> list[Cause]:
        """What of an object cannot stand where its scale is read from."""
        found = [
            *_number_problems(obj, self.spec_replicas_path),
            *_number_problems(obj, self.status_replicas_path),
        ]
        if self.label_selector_path:
            _, problem = _nested(obj, self.label_selector_path, str, "string")
            if problem:
                found.append(causes.invalid(self.label_selector_path, "", problem))
        return found


def _number_problems(obj: Mapping[str, Any], path: str) -> list[Cause]:
    value, problem = _nested(obj, path, int, "int64")
    if problem:
        return [causes.invalid(path, 0, problem)]
    if value is not None and value < 0:
        return [causes.invalid(path, value, "should be a non-negative integer")]
    if value is not None and value > _LARGEST:
        return [causes.invalid(path, value, f"should be less than or equal to {_LARGEST}")]
    return []


def _nested(obj: Any, path: str, wanted: type, name: str) -> tuple[Any, str]:
    """The value at a path and, where there is another sort of value, the problem with it."""
    steps = path.strip(".").split(".")
    for index, step in enumerate(steps):
        if not isinstance(obj, Mapping):
            return None, f"{path} accessor error: {_is_no(obj, 'map[string]interface{}')}"
        if step not in obj:
            return None, ""
        obj = obj[step]
        if index == len(steps) - 1 and (not isinstance(obj, wanted) or isinstance(obj, bool)):
            return None, f"{path} accessor error: {_is_no(obj, name)}"
    return obj, ""


def _is_no(value: Any, wanted: str) -> str:
    kinds = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}
    kind = kinds.get(type(value), "<nil>" if value is None else "map[string]interface {}")
    return f"{value} is of the type {kind}, expected {wanted}"


_LARGEST: Final = 2**31 - 1


@final
class CustomVersion(msgspec.Struct, frozen=True):
    """One version of a custom kind."""

    name: str
    served: bool
    storage: bool
    schema: Schema
    columns: tuple[Column, ...]  # without the name; the age where no column was asked for
    selectable_fields: tuple[str, ...]  # as in field selectors: `spec.color`
    has_status: bool
    scale: Scale | None
    deprecated: bool = False
    deprecation_warning: str = ""

    @property
    def facts(self) -> TypeFacts | None:
        """The merge rules of the schema's fields."""
        return self.schema.facts


@final
class CustomKind(msgspec.Struct, frozen=True):
    """A kind that a CustomResourceDefinition brought."""

    group: str
    plural: str
    kind: str
    singular: str
    list_kind: str
    namespaced: bool
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    versions: tuple[CustomVersion, ...]
    conversion: str = "None"

    @classmethod
    def from_crd(cls, crd: Mapping[str, Any]) -> Self:
        """What a definition says, with the server's defaults where it says nothing.

        Raises:
            StatusError: the definition is not valid (422, with every cause).
        """
        whole = default_crd(dict(crd))
        problems = problems_of_crd(whole)
        if problems:
            raise invalid(GROUP, KIND, (whole.get("metadata") or {}).get("name", ""), problems)
        return cls._from_valid(whole["spec"])

    @classmethod
    def _from_valid(cls, spec: Mapping[str, Any]) -> Self:
        names = spec["names"]
        return cls(
            group=spec["group"],
            plural=names["plural"],
            kind=names["kind"],
            singular=names["singular"],
            list_kind=names["listKind"],
            namespaced=spec["scope"] == "Namespaced",
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            versions=tuple(_version(each, spec) for each in spec["versions"]),
            conversion=spec["conversion"]["strategy"],
        )

    def version(self, name: str) -> CustomVersion | None:
        """The version of this name."""
        return next((each for each in self.versions if each.name == name), None)

    @property
    def storage_version(self) -> str:
        """The name of the one version that objects are stored in."""
        return next(each.name for each in self.versions if each.storage)


def _version(said: Mapping[str, Any], spec: Mapping[str, Any]) -> CustomVersion:
    parts = said.get("subresources") or {}
    return CustomVersion(
        name=said["name"],
        served=bool(said.get("served")),
        storage=bool(said.get("storage")),
        schema=Schema((said.get("schema") or {}).get("openAPIV3Schema")),
        columns=tuple(map(_column, said.get("additionalPrinterColumns") or ())) or (AGE_COLUMN,),
        selectable_fields=tuple(
            each["jsonPath"].removeprefix(".") for each in said.get("selectableFields") or ()
        ),
        has_status=parts.get("status") is not None,
        scale=_scale(parts["scale"]) if parts.get("scale") is not None else None,
        deprecated=bool(said.get("deprecated")),
        deprecation_warning=said.get("deprecationWarning") or _deprecation(said["name"], spec),
    )


def _deprecation(name: str, spec: Mapping[str, Any]) -> str:
    """What users of a deprecated version are told where the definition does not say."""
    group, kind = spec["group"], spec["names"]["kind"]
    better = [
        each["name"]
        for each in spec["versions"]
        if each.get("served")
        and not each.get("deprecated")
        and api_version_rank(each["name"]) < api_version_rank(name)
    ]
    usual = f"{group}/{name} {kind} is deprecated"
    if not better:
        return usual
    return f"{usual}; use {group}/{min(better, key=api_version_rank)} {kind}"


def _column(said: Mapping[str, Any]) -> Column:
    path = said["jsonPath"]
    usual = f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        name=said["name"],
        type=said["type"],
        json_path=path,
        format=said.get("format") or "",
        description=said.get("description") or usual,
        priority=said.get("priority") or 0,
    )


def _scale(said: Mapping[str, Any]) -> Scale:
    return Scale(
        said["specReplicasPath"], said["statusReplicasPath"], said.get("labelSelectorPath") or ""
    )


# --- defaults and status


def default_crd(crd: dict[str, Any]) -> dict[str, Any]:
    """`crd` with the names, the conversion and the stored versions that go without saying."""
    spec = dict(crd.get("spec") or {})
    names, kind = dict(spec.get("names") or {}), (spec.get("names") or {}).get("kind") or ""
    if kind:
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec["names"] = names
    spec["conversion"] = _default_conversion(spec.get("conversion"))
    status = dict(crd.get("status") or {})
    if not status.get("storedVersions"):
        status["storedVersions"] = _storage_names(spec)[:1]
    return {**crd, "spec": spec, "status": status}


def _storage_names(spec: Mapping[str, Any]) -> list[str]:
    versions = spec.get("versions") or ()
    return [each.get("name", "") for each in versions if each.get("storage")]


def _default_conversion(said: Mapping[str, Any] | None) -> dict[str, Any]:
    conversion = dict(said or {"strategy": "None"})
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service and "port" not in service:
        webhook = conversion["webhook"]
        client = {**webhook["clientConfig"], "service": {**service, "port": 443}}
        conversion["webhook"] = {**webhook, "clientConfig": client}
    return conversion


def status_of(
    crd: Mapping[str, Any], others: Iterable[Mapping[str, Any]] = (), *, now: str
) -> dict[str, Any]:
    """The status of a definition once the server looked at it among `others`.

    Names that another definition of the same group was given are not accepted, and the kind is
    then not established; a kind that once was stays so. `now` is the moment of what changes.
    """
    spec, before = crd.get("spec") or {}, crd.get("status") or {}
    accepted, clash = _names_given(
        spec.get("names") or {}, before.get("acceptedNames") or {}, _taken_names(crd, others)
    )
    known = {each["type"]: each for each in before.get("conditions") or ()}
    names = _condition("NamesAccepted", clash, ("NoConflicts", "no conflicts found"))
    named = _since(names, known, now)
    established = known.get("Established")
    if established is None or established.get("status") != "True":
        held = ("NotAccepted", "not all names are accepted") if clash else None
        ready = ("InitialNamesAccepted", "the initial names have been accepted")
        established = _since(_condition("Established", held, ready), known, now)
    rest = [each for key, each in known.items() if key not in {"NamesAccepted", "Established"}]
    return {
        **before,
        "acceptedNames": {"kind": "", "plural": "", **accepted},
        "conditions": [named, established, *rest],
        "storedVersions": _stored_versions(spec, before),
    }


def _condition(kind: str, bad: tuple[str, str] | None, good: tuple[str, str]) -> dict[str, Any]:
    reason, message = bad or good
    status = "False" if bad else "True"
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _since(
    condition: dict[str, Any], known: Mapping[str, Mapping[str, Any]], now: str
) -> dict[str, Any]:
    before = known.get(condition["type"])
    same = before is not None and before.get("status") == condition["status"]
    moment = before.get("lastTransitionTime", now) if before is not None and same else now
    return {"lastTransitionTime": moment, **condition}


def _taken_names(
    crd: Mapping[str, Any], others: Iterable[Mapping[str, Any]]
) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    own, group = (crd.get("metadata") or {}).get("name"), (crd.get("spec") or {}).get("group")
    for other in others:
        if (other.get("metadata") or {}).get("name") == own:
            continue
        if (other.get("spec") or {}).get("group") != group:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", "")}
        resources |= set(names.get("shortNames") or ())
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _names_given(
    wanted: Mapping[str, Any], accepted: Mapping[str, Any], taken: tuple[set[str], set[str]]
) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """The names that can be had, and the last one that cannot, with the reason."""
    resources, kinds = taken
    given, clash = dict(accepted), None
    for name, reason, used in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        new = set(_each(wanted.get(name))) - set(_each(accepted.get(name)))
        if new & used:
            clash = reason, f'"{min(new & used)}" is already in use'
        elif wanted.get(name):
            given[name] = wanted[name]
    if wanted.get("categories"):
        given["categories"] = wanted["categories"]
    return given, clash


def _each(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _stored_versions(spec: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    stored = list(before.get("storedVersions") or ())
    return stored + [name for name in _storage_names(spec) if name not in stored]
