"""The specs of jobs, which cron jobs contain too: validation and warnings.

See also: policies for failure and success (`job_policies`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ..kind import Causes, Json, Warnings
from ..rules.pod_warnings import template_warnings
from ..rules.template_validation import problems_of_template
from ..rules.value_rules import check_choice, check_minimum
from .job_policies import problems_of_failure_policy, problems_of_success_policy

__all__ = ["check_job_spec", "job_spec_warnings"]

_MAX_PARALLELISM: Final = 100_000  # of indexed jobs
_NUMBERS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_is_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch


def check_job_spec(spec: Json, path: str) -> Causes:
    # `validateJobSpec`.
    for field in _NUMBERS:
        yield from check_minimum(f"{path}.{field}", spec.get(field))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        where = f"{path}.backoffLimitPerIndex"
        yield causes.required(where, "when maxFailedIndexes is specified")
    yield from _managed_by(spec, f"{path}.managedBy")
    yield from _completion_mode(spec, path)
    if isinstance(spec.get("podFailurePolicy"), Mapping):
        yield from problems_of_failure_policy(spec, f"{path}.podFailurePolicy")
    if isinstance(spec.get("successPolicy"), Mapping):
        yield from problems_of_success_policy(spec, f"{path}.successPolicy")
    has_policy = spec.get("podFailurePolicy") is not None
    policies = ("Failed",) if has_policy else ("Failed", "TerminatingOrFailed")
    where = f"{path}.podReplacementPolicy"
    yield from check_choice(where, spec.get("podReplacementPolicy"), policies)
    yield from problems_of_template(spec, f"{path}.template")
    yield from _restart_policy(spec, f"{path}.template.spec.restartPolicy", has_policy=has_policy)


def _restart_policy(spec: Json, path: str, *, has_policy: bool) -> Causes:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    # `Always` is the default, so kube-apiserver reports it as missing.
    if policy in {None, "", "Always"}:
        yield causes.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in {"OnFailure", "Never"}:
        yield causes.not_supported(path, policy, ("OnFailure", "Never"))
    elif has_policy and policy != "Never":
        yield causes.invalid(
            path, policy, 'only "Never" is supported when podFailurePolicy is specified'
        )


def _managed_by(spec: Json, path: str) -> Causes:
    # `IsDomainPrefixedPath`.
    name = spec.get("managedBy")
    if name is None:
        return
    if not name:
        yield causes.required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or not domain or not rest:
        yield causes.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    elif problems_of_dns_subdomain(domain):
        yield causes.invalid(path, domain, "must begin with a domain")
    elif not _is_path(rest):
        yield causes.invalid(path, rest, "must end with a valid path")
    if len(name) > 63:
        yield causes.too_long(path, 63)


def _completion_mode(spec: Json, path: str) -> Causes:
    mode, completions = spec.get("completionMode"), spec.get("completions")
    failed, parallelism = spec.get("maxFailedIndexes"), spec.get("parallelism") or 0
    yield from check_choice(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if completions is None:
            yield causes.required(f"{path}.completions", "when completion mode is Indexed")
        if parallelism > _MAX_PARALLELISM:
            rule = (
                f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
            )
            yield causes.invalid(f"{path}.parallelism", parallelism, rule)
        if completions is not None and failed is not None and failed > completions:
            rule = "must be less than or equal to completions"
            yield causes.invalid(f"{path}.maxFailedIndexes", failed, rule)
        if (failed or 0) > _MAX_PARALLELISM:
            rule = f"must be at most {_MAX_PARALLELISM}"
            yield causes.invalid(f"{path}.maxFailedIndexes", failed, rule)
    elif mode in {None, "", "NonIndexed"}:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                where = f"{path}.{field}"
                yield causes.invalid(where, spec[field], "requires indexed completion mode")


def job_spec_warnings(spec: Json, path: str) -> Warnings:
    many = (spec.get("completions") or 0) > 100_000 and (spec.get("parallelism") or 0) > 10_000
    if spec.get("completionMode") == "Indexed" and many:
        yield f"{path}: with so many indexes, failed ones may not be recorded"
    if isinstance(spec.get("template"), Mapping):
        yield from template_warnings(spec["template"], f"{path}.template")
