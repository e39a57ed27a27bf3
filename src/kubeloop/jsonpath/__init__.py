"""kubectl's JSONPath: templates such as `{range .items[*]}{.metadata.name}{"\\n"}{end}`.

See also: what a template may say (`syntax`, `parser`), what it finds (`walk`), how
results are written (`printing`).
"""

from __future__ import annotations

from .syntax import JSONPathError
from .template import JSONPath, relaxed

__all__ = ["JSONPath", "JSONPathError", "relaxed"]
