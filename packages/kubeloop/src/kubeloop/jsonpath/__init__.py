"""kubectl's JSONPath: templates such as `{range .items[*]}{.metadata.name}{"\\n"}{end}`.

See also: the language (`syntax`, `parser`), the evaluation (`evaluator`), the output
(`template`).
"""

from __future__ import annotations

from .syntax import JSONPathError
from .template import JSONPath

__all__ = [
    "JSONPath",
    "JSONPathError",
]

# For other packages of kubeloop; not public.
from .template import relaxed as relaxed
