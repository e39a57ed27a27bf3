"""Records what the Go types of Kubernetes make of random objects of every built-in kind: JSON,
and protobuf.

    python tools/go_round_trips.py packages/kubeloop-testing/tests/testing/server/round_trips.json

The objects are the same in every run. Needs Go, and the program in tools/go_types.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from kubeloop.wire import resources
from kubeloop_testing.server.values.go_types import (
    alias_of,
    fields_of,
    go_type_of,
    is_struct,
    source_version,
)

ROOT = Path(__file__).parent.parent
EACH = 3  # objects of a kind
TEXTS = ["", "a", "b c", "/x"]
SCALARS: dict[str, list[Any]] = {
    "any": [1],
    "bool": [True, False],
    "bytes": ["", "aGk="],
    "duration": ["0s", "1m0s"],
    "fields": [{"f:a": {}}],
    "float64": [0, 0.5],
    "int": [0, 1],
    "int32": [0, 1, -1],
    "int64": [0, 1, 2**40],
    "intstr": [0, 80, "http", ""],
    "json": [{"a": []}, "x", 1, True],
    "microtime": ["2024-01-02T03:04:05.000000Z"],
    "quantity": ["0", "500m", "1024Mi", 2],
    "raw": [{"a": 1, "kind": "X", "apiVersion": "v1"}],
    "schemaorarray": [{"type": "a"}, [{"type": "a"}, {}]],
    "schemaorbool": [True, {"type": "a"}, {}],
    "schemaorstrings": [["a"], {"type": "a"}],
    "string": TEXTS,
    "time": ["2024-01-02T03:04:05Z"],
}


def main(arguments: list[str]) -> int:
    """Write the recording; returns the exit code."""
    objects = _objects()
    program = subprocess.run(
        ["go", "run", "-trimpath", ".", "round-trips"],
        cwd=ROOT / "tools" / "go_types",
        input="".join(f"{json.dumps(each)}\n" for each in objects),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = [line.split("\t") for line in program.stdout.splitlines()]
    pairs = zip(objects, [json.loads(text) for text, _ in answers], strict=True)
    lines = ",\n".join(json.dumps(pair, separators=(",", ":")) for pair in pairs)
    protobuf = ",\n".join(json.dumps(data) for _, data in answers)
    head = f'{{"source":"tools/go_round_trips.py","version":"{source_version()}","pairs":[\n'
    text = f'{head}{lines}\n],\n"protobuf":[\n{protobuf}\n]}}\n'
    Path(arguments[0]).write_text(text, encoding="utf-8")
    return 0


def _objects() -> list[dict[str, Any]]:
    chance = random.Random(14)
    kinds = sorted({(f"{r.group}/{r.version}".removeprefix("/"), r.kind) for r in resources()})
    return [
        {"apiVersion": version, "kind": kind, **_struct(chance, go_type_of(version, kind), 6)}
        for version, kind in kinds
        for _ in range(EACH)
    ]


def _value(chance: random.Random, go_type: str, depth: int) -> Any:
    go_type = (alias_of(go_type) or go_type).removeprefix("*")
    if chance.random() < 0.05:
        return None
    count = chance.randint(0, 2) if depth > 0 else 0
    if go_type.startswith("[]"):
        return [_value(chance, go_type[2:], depth - 1) for _ in range(count)]
    if go_type.startswith("map["):
        names = chance.sample(TEXTS[1:], count)
        return {name: _value(chance, go_type.partition("]")[2], depth - 1) for name in names}
    if is_struct(go_type):
        return _struct(chance, go_type, depth)
    return chance.choice(SCALARS[go_type])


def _struct(chance: random.Random, struct: str, depth: int) -> dict[str, Any]:
    fields = [each for each in fields_of(struct) if each.name not in {"apiVersion", "kind"}]
    chosen = chance.sample(fields, chance.randint(0, min(len(fields), 6))) if depth > 0 else []
    return {each.name: _value(chance, each.type, depth - 1) for each in chosen}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
