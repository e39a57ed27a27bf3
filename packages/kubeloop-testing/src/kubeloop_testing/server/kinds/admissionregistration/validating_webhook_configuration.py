"""ValidatingWebhookConfiguration (admissionregistration.k8s.io).

Defaults, validation, warnings and columns.
"""

from __future__ import annotations

from typing import Final

from ..kind import Kind
from .webhooks import (
    COLUMNS,
    check_webhooks,
    conditions_not_evaluated,
    static_name_warnings,
    webhook_cells,
    webhook_defaults,
)

__all__ = ["KIND"]


KIND: Final = Kind(
    "admissionregistration.k8s.io",
    "ValidatingWebhookConfiguration",
    generation="counted",
    requires_version=True,
    defaults=(webhook_defaults(),),
    validate=check_webhooks,
    warn=static_name_warnings,
    not_evaluated=conditions_not_evaluated,
    columns=COLUMNS,
    cells=webhook_cells,
)
