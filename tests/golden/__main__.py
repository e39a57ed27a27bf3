"""Has client-go answer the golden cases.

    python -m tests.golden                  write the answers into tests/golden/answers
    python -m tests.golden --check          change nothing; fail if an answer would change
    python -m tests.golden --compare        change nothing; show where kubeloop's answers differ
    python -m tests.golden quantities ...   only these areas

It needs Go (1.26 or newer), except for `--compare`, which reads the answers that are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.golden.case import Case, Json
from tests.golden.suite import (
    ANSWERS,
    AREAS,
    agrees,
    identity,
    marks,
    our_answer,
    read_answers,
    text_of,
    write_answers,
)

_MODULE = Path(__file__).parent / "clientgo"
_NO_GO = "make golden: no Go here (install Go 1.26 or newer); the tests need only the answers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, check or compare; the answer is the exit code."""
    parser = argparse.ArgumentParser(
        prog="golden", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("areas", nargs="*", help=f"some of: {', '.join(AREAS)}")
    parser.add_argument("--check", action="store_true", help="fail if an answer would change")
    parser.add_argument("--compare", action="store_true", help="show where kubeloop differs")
    options = parser.parse_args(arguments)
    if unknown := set(options.areas) - set(AREAS):
        parser.error(f"no area {', '.join(sorted(unknown))} (there are: {', '.join(AREAS)})")
    names = options.areas or list(AREAS)
    if options.compare:
        return _compare(names)
    if shutil.which("go") is None:
        print(_NO_GO, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "golden")
        built = subprocess.run(["go", "build", "-o", str(program), "."], cwd=_MODULE, check=False)
        if built.returncode:
            return built.returncode
        return _answer(names, program, check=options.check)


def _answer(names: Sequence[str], program: Path, *, check: bool) -> int:
    code = 0
    for name in names:
        cases = list({identity(case): case for case in AREAS[name].cases()}.values())
        text = _ask(program, name, cases)
        file = ANSWERS / f"{name}.json"
        if not check:
            file.write_text(text, encoding="utf-8")
            print(f"{name}: {len(cases)} cases")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            print(f"{name}: answers differ (run `make golden` and read the change)")
            code = 1
    return code


def _ask(program: Path, name: str, cases: Sequence[Case]) -> str:
    asked = subprocess.run(
        [str(program)], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    if asked.returncode:
        sys.exit(f"make golden: {name}: {asked.stderr.strip()}")
    given: Json = json.loads(asked.stdout)
    return write_answers(name, given["source"], zip(cases, given["answers"], strict=True))


def _compare(names: Sequence[str]) -> int:
    """Print every case that differs and is not marked, as it would be marked."""
    marked = {identity(Case(mark.operation, each)) for mark in marks() for each in mark.cases}
    code = 0
    for name in names:
        for case, theirs in read_answers(name)[1]:
            ours = our_answer(AREAS[name], case)
            if not agrees(ours, theirs) and identity(case) not in marked:
                print(f"{case.operation} {json.dumps(case.given)}")
                print(f"  client-go  {text_of(theirs)}\n  kubeloop   {text_of(ours)}")
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
