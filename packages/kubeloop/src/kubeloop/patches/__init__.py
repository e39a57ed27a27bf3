"""Computes and applies JSON patches, merge patches and strategic merge patches of plain JSON.

Guarantees: every function is pure (its arguments are never changed, its result shares
nothing with them), a patch is applied completely or not at all, and the only error is
`PatchError`. A JSON value nested deeper than 128 levels is rejected.
See also: merge strategies and merge keys of fields (`kubeloop.wire.facts`), sending a patch
(`kubeloop.clients`).
"""

from .errors import PatchError
from .json_patch import apply_json_patch, json_patch_between
from .merge_patch import apply_merge_patch, merge_patch_between, three_way_merge_patch
from .strategic import apply_strategic_patch
from .strategic_diff import strategic_patch_between, three_way_strategic_patch

__all__ = [
    "PatchError",
    "apply_json_patch",
    "apply_merge_patch",
    "apply_strategic_patch",
    "json_patch_between",
    "merge_patch_between",
    "strategic_patch_between",
    "three_way_merge_patch",
    "three_way_strategic_patch",
]

# For other packages of kubeloop; not public.
from .errors import PatchFailure as PatchFailure
from .json_patch import MAX_OPERATIONS as MAX_OPERATIONS
from .values import format_pointer as format_pointer
from .values import parse_pointer as parse_pointer
