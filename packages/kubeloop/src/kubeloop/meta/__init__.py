"""Identity and metadata of objects: keys, group/version/kind, owners, finalizers, conditions.

Plain functions on plain values: objects may be models or dicts. Names and labels are checked
by the same rules as in kube-apiserver.
See also: the model of the metadata (`kubeloop.wire.meta.v1.ObjectMeta`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .identity import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
)

# isort: split
# For other packages of kubeloop; not public.
from .identity import HasMetadata as HasMetadata
from .identity import Named as Named

if TYPE_CHECKING:
    from .conditions import (
        find_condition,
        is_condition_false,
        is_condition_true,
        remove_condition,
        set_condition,
    )
    from .finalizers import add_finalizer, has_finalizer, remove_finalizer
    from .names import (
        check_dns_label,
        check_dns_subdomain,
        check_label_key,
        check_label_value,
        generate_name,
    )
    from .owners import (
        add_owner,
        controller_of,
        controller_ref,
        is_controlled_by,
        owner_ref,
        remove_owner,
        set_controller,
    )
    from .versions import compare_versions, is_newer

    # isort: split
    # For other packages of kubeloop; not public.
    from .conditions import ConditionLike as ConditionLike
    from .conditions import is_condition as is_condition
    from .finalizers import Finalizable as Finalizable
    from .names import ANNOTATIONS_LIMIT as ANNOTATIONS_LIMIT
    from .names import check_annotations as check_annotations
    from .names import check_dns_1035_label as check_dns_1035_label
    from .names import check_path_segment as check_path_segment
    from .names import problems_of_annotations as problems_of_annotations
    from .names import problems_of_dns_1035_label as problems_of_dns_1035_label
    from .names import problems_of_dns_label as problems_of_dns_label
    from .names import problems_of_dns_subdomain as problems_of_dns_subdomain
    from .names import problems_of_label_key as problems_of_label_key
    from .names import problems_of_label_value as problems_of_label_value
    from .names import problems_of_path_segment as problems_of_path_segment
    from .owners import Owned as Owned
    from .owners import Owner as Owner
    from .paging import PageProgress as PageProgress
    from .versions import api_version_rank as api_version_rank
    from .versions import is_valid_version as is_valid_version
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".conditions": (
                "ConditionLike find_condition is_condition is_condition_false "
                "is_condition_true remove_condition set_condition"
            ),
            ".finalizers": "Finalizable add_finalizer has_finalizer remove_finalizer",
            ".names": (
                "ANNOTATIONS_LIMIT check_annotations check_dns_1035_label "
                "check_dns_label check_dns_subdomain check_label_key check_label_value "
                "check_path_segment generate_name problems_of_annotations "
                "problems_of_dns_1035_label problems_of_dns_label "
                "problems_of_dns_subdomain problems_of_label_key "
                "problems_of_label_value problems_of_path_segment"
            ),
            ".owners": (
                "Owned Owner add_owner controller_of controller_ref is_controlled_by "
                "owner_ref remove_owner set_controller"
            ),
            ".paging": "PageProgress",
            ".versions": "api_version_rank compare_versions is_newer is_valid_version",
        },
    )

__all__ = [
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "ObjectKey",
    "add_finalizer",
    "add_owner",
    "check_dns_label",
    "check_dns_subdomain",
    "check_label_key",
    "check_label_value",
    "compare_versions",
    "controller_of",
    "controller_ref",
    "find_condition",
    "generate_name",
    "has_finalizer",
    "is_condition_false",
    "is_condition_true",
    "is_controlled_by",
    "is_newer",
    "owner_ref",
    "remove_condition",
    "remove_finalizer",
    "remove_owner",
    "set_condition",
    "set_controller",
]
