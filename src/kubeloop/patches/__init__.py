"""Computes and applies JSON patches, merge patches and strategic merge patches of plain JSON.

Guarantees: every function is pure (its arguments are never changed, its result shares
nothing with them), a patch is applied completely or not at all, and the only error is
`PatchError`. A JSON value nested deeper than 128 levels is rejected.
See also: merge strategies and merge keys of fields (`kubeloop.wire.facts`), sending a patch
(`kubeloop.clients`).
"""

from .errors import PatchError, PatchFailure
from .json_patch import MAX_OPERATIONS, apply_json_patch, json_patch_between
from .merge_patch import apply_merge_patch, merge_patch_between, three_way_merge_patch
from .strategic import apply_strategic_patch
from .strategic_diff import strategic_patch_between, three_way_strategic_patch
from .values import format_pointer, parse_pointer

__all__ = [
    "MAX_OPERATIONS",
    "PatchError",
    "PatchFailure",
    "apply_json_patch",
    "apply_merge_patch",
    "apply_strategic_patch",
    "format_pointer",
    "json_patch_between",
    "merge_patch_between",
    "parse_pointer",
    "strategic_patch_between",
    "three_way_merge_patch",
    "three_way_strategic_patch",
]
