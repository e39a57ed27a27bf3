"""Tables of the reference: the built-in kinds, and the metrics.

See also: `reference_pages` (writes the pages).
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry

from kubeloop.runtime.metrics import AllMetrics
from kubeloop.wire import ResourceInfo, class_for, resources

__all__ = ["kinds", "metrics"]


def kinds() -> str:
    """Every built-in kind, by the module that has its class."""
    modules: dict[str, list[ResourceInfo]] = {}
    for info in resources():
        modules.setdefault(_module(info), []).append(info)
    return "\n".join(map(_table, modules, modules.values()))


def _module(info: ResourceInfo) -> str:
    cls = class_for(info.group, info.version, info.kind)
    name = cls.__module__.rpartition(".")[2] if cls is not None else f"{info.group}_{info.version}"
    return f"kubeloop.wire.{name.replace('_', '.')}"


def _table(module: str, infos: Iterable[ResourceInfo]) -> str:
    head = f"\n## {module}\n\n| kind | resource | short | namespaced |\n|---|---|---|---|\n"
    return head + "\n".join(_row(info) for info in sorted(infos, key=lambda each: each.kind))


def _row(info: ResourceInfo) -> str:
    inside = "yes" if info.namespaced else "no"
    return f"| `{info.kind}` | `{info.plural}` | {', '.join(info.short_names)} | {inside} |"


def metrics() -> str:
    """Every metric that a manager serves: name, type, meaning."""
    registry = CollectorRegistry()
    AllMetrics(registry)
    ours = [
        each for each in registry.collect() if not each.name.startswith(("python_", "process_"))
    ]
    rows = [
        f"| `{each.name}{'_total' if each.type == 'counter' else ''}` | {each.type} |"
        f" {each.documentation} |"
        for each in ours
    ]
    return "\n".join(["| name | type | meaning |", "|---|---|---|", *rows])
