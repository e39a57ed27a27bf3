"""Writes generated files, or says which of them would change.

Guarantees: a generated file that is no longer generated is removed; `check` writes nothing.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["stale_files", "update"]

_MARKER = "by tools/kubeloop_generate. Do not edit."


def update(files: Mapping[Path, str | bytes], *, check: bool, stale: tuple[Path, ...] = ()) -> int:
    """Write `files` and remove the `stale` ones, or only compare; returns the exit code."""
    changed = sorted([*(path for path, new in files.items() if not _is_equal(path, new)), *stale])
    if check:
        for path in changed:
            print(f"would change: {path}", file=sys.stderr)
        print(f"{len(files)} files compared, {len(changed)} would change")
        return 1 if changed else 0
    for path in changed:
        content = files.get(path)
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    print(f"{len(files)} files generated, {len(changed)} changed")
    return 0


def stale_files(folder: Path, files: Mapping[Path, str | bytes]) -> tuple[Path, ...]:
    """The generated modules in `folder` that are not in `files`."""
    return tuple(
        path
        for path in sorted(folder.rglob("*.py"))
        if path not in files and _MARKER in path.read_text("utf-8").partition("\n")[0]
    )


def _is_equal(path: Path, content: str | bytes) -> bool:
    if not path.is_file():
        return False
    if isinstance(content, str):
        return path.read_text("utf-8") == content
    # Compared before compression: other versions of zlib write other bytes.
    return gzip.decompress(path.read_bytes()) == gzip.decompress(content)
