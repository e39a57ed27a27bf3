"""Steps of the recorded cases about rules of built-in kinds: create, change, delete.

A step is `(method, path, body[, headers])`; `{ns}` stands for the namespace of the case.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Body", "Step", "change", "create", "delete", "lifecycle", "rejections"]

Body = dict[str, Any]
Step = tuple[Any, ...]
_MERGE = {"Content-Type": "application/merge-patch+json"}


def create(
    collection: str, body: Body, name: str = "x-{ns}", user: dict[str, str] | None = None
) -> Step:
    """Create an object as `user`, headers of an impersonation; `name` is unique in the cluster."""
    meta = {"name": name, **body.get("metadata", {})}
    step = ("POST", collection, {**body, "metadata": meta})
    return (*step, user) if user else step


def change(collection: str, patch: Body, name: str = "x-{ns}", part: str = "") -> Step:
    """Change an object, or one subresource of it, by a merge patch."""
    path = f"{collection}/{name}/{part}" if part else f"{collection}/{name}"
    return ("PATCH", path, patch, _MERGE)


def delete(collection: str, name: str = "x-{ns}") -> Step:
    return ("DELETE", f"{collection}/{name}", None)


def lifecycle(collection: str, body: Body, *steps: Step, name: str = "x-{ns}") -> list[Step]:
    """Create an object, do `steps`, delete it."""
    return [create(collection, body, name), *steps, delete(collection, name)]


def rejections(collection: str, *bodies: Body, name: str = "x-{ns}") -> list[Step]:
    """Creates that are rejected, one for each body; a dry run leaves nothing behind."""
    return [create(f"{collection}?dryRun=All", body, name) for body in bodies]
