"""PriorityLevelConfiguration (flowcontrol.apiserver.k8s.io): defaults, validation and columns."""

from __future__ import annotations

import math
from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at
from ..kind import ALL_METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.defaults import in_spec, pointer_defaults
from ..rules.value_rules import check_range
from .flow_schema import check_positive, check_status

__all__ = ["KIND"]

_QUEUING: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


def _priority_level(spec: JsonObject) -> JsonObject:
    # `SetDefaults_LimitedPriorityLevelConfiguration` and its neighbours.
    exempt = pointer_defaults(nominalConcurrencyShares=0, lendablePercent=0)
    limited = pointer_defaults(nominalConcurrencyShares=30, lendablePercent=0)
    spec = map_field(map_field(spec, "exempt", exempt), "limited", limited)
    return map_field(
        spec,
        "limited",
        lambda value: map_field(
            value, "limitResponse", lambda response: map_field(response, "queuing", _queuing)
        ),
    )


def _queuing(queuing: JsonObject) -> JsonObject:
    missing = {key: value for key, value in _QUEUING.items() if not queuing.get(key)}
    return {**queuing, **missing} if missing else queuing


_MAX_QUEUES: Final = 10_000_000
_MAX_HASH_BITS: Final = 60


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidatePriorityLevelConfigurationSpec`; causes of the declarative validation, about
    # missing and forbidden members, come last.
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    if (name == "exempt") != (kind == "Exempt"):
        rule = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield causes.invalid("spec.type", kind, rule)
    if kind == "Exempt":
        yield from _exempt(exempt or {})
        if limited is not None:
            yield causes.forbidden("spec.limited", "")
    elif kind == "Limited":
        if limited is not None:
            yield from _limited(limited)
        else:
            yield causes.required("spec.limited", "")
        if exempt is not None:
            yield causes.forbidden("spec.exempt", "")
    elif kind:
        yield causes.not_supported("spec.type", kind, ("Exempt", "Limited"))
    else:
        yield causes.required("spec.type")


def _exempt(exempt: Json) -> Causes:
    path = "spec.exempt"
    shares = exempt.get("nominalConcurrencyShares")
    if (shares or 0) < 0:
        rule = "must be a non-negative integer"
        yield causes.invalid(f"{path}.nominalConcurrencyShares", shares, rule)
    yield from check_range(f"{path}.lendablePercent", exempt.get("lendablePercent"), 0, 100)


def _limited(limited: Json) -> Causes:
    path, response = "spec.limited", limited.get("limitResponse") or {}
    shares = limited.get("nominalConcurrencyShares")
    if (shares or 0) < 0:
        rule = "must be a non-negative integer"
        yield causes.invalid(f"{path}.nominalConcurrencyShares", shares, rule)
    kind, queuing = response.get("type") or "", response.get("queuing")
    where = f"{path}.limitResponse"
    if kind == "Queue" and queuing is not None:
        yield from _check_queuing(f"{where}.queuing", queuing)
    elif kind not in ("", "Queue", "Reject"):
        yield causes.not_supported(f"{where}.type", kind, ("Queue", "Reject"))
    yield from check_range(f"{path}.lendablePercent", limited.get("lendablePercent"), 0, 100)
    borrowed = limited.get("borrowingLimitPercent")
    if (borrowed or 0) < 0:
        rule = "if specified, must be a non-negative integer"
        yield causes.invalid(f"{path}.borrowingLimitPercent", borrowed, rule)
    if kind == "Reject" and queuing is not None:
        yield causes.forbidden(f"{where}.queuing", "")
    elif kind == "Queue" and queuing is None:
        yield causes.required(f"{where}.queuing", "")
    elif not kind:
        yield causes.required(f"{where}.type")


def _check_queuing(path: str, queuing: Json) -> Causes:
    # `ValidatePriorityLevelQueuingConfiguration`.
    length, queues = queuing.get("queueLengthLimit") or 0, queuing.get("queues") or 0
    hand = queuing.get("handSize") or 0
    if length < 1:
        yield causes.invalid(f"{path}.queueLengthLimit", length, "must be positive")
    yield from check_positive(f"{path}.queues", queues, _MAX_QUEUES, "must be positive")
    if hand <= 0:
        yield causes.invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        rule = f"should not be greater than queues ({queues})"
        yield causes.invalid(f"{path}.handSize", hand, rule)
    elif _entropy_bits(queues, hand) > _MAX_HASH_BITS:
        rule = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be "
            f"greater than {_MAX_HASH_BITS}"
        )
        yield causes.invalid(f"{path}.handSize", hand, rule)


def _entropy_bits(queues: int, hand: int) -> int:
    # `RequiredEntropyBits` of shuffle sharding.
    return math.ceil(sum(math.log2(queues - index) for index in range(hand)))


def _cells(obj: Json, since: Since) -> list[Any]:
    # An exempt level has no limits, hence `<none>`.
    limited = value_at(obj, "spec", "limited")
    queuing = value_at(limited, "limitResponse", "queuing")

    def of(part: Any, key: str) -> Any:
        return "<none>" if part is None else value_at(part, key) or 0

    return [
        name_of(obj),
        value_at(obj, "spec", "type") or "",
        of(limited, "nominalConcurrencyShares"),
        of(queuing, "queues"),
        of(queuing, "handSize"),
        of(queuing, "queueLengthLimit"),
        age_of(obj, since),
    ]


KIND: Final = Kind(
    "flowcontrol.apiserver.k8s.io",
    "PriorityLevelConfiguration",
    generation="counted",
    kept_by_status=ALL_METADATA,
    defaults=(in_spec(_priority_level),),
    validate=_validate,
    validate_parts={"status": check_status},
    columns="Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age",
    cells=_cells,
)
