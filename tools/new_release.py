"""Changes every pinned version to that of another release of Kubernetes.

    python tools/new_release.py v1.38.0

It edits the files and Go modules that name the version (`PINS`, `MODULES`), and the versions that
`make test-versions` tests. What is generated or recorded follows with the other commands of
docs/how-to/new-kubernetes-release.md. Needs Go. Nothing is written if a file does not name the
old version as expected.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import assets
from assets import KUBERNETES

__all__ = ["MODULES", "PINS", "edits", "minor_of", "versions_to_test"]

ROOT = Path(__file__).parent.parent
# Where the version stands: a file, and a text that it contains once. {minor} is 1.37, and
# {version} is 1.37.1. A test fails if the version stands anywhere else.
PINS = (
    ("tools/assets.py", 'KUBERNETES = "v{version}"\n'),
    (
        "packages/kubeloop-testing/src/kubeloop_testing/workloads/nodes.py",
        '_VERSION = "v{minor}.0"',
    ),
    ("docs/how-to/cli.md", "are compared with kubectl {minor} byte by byte"),
    ("docs/how-to/models.md", "Every built-in kind of Kubernetes {minor} is a class"),
    ("docs/reference/conformance.md", "kube-apiserver {minor} is the reference"),
    ("docs/reference/kinds.md", "every built-in kind of Kubernetes {minor} by module"),
    ("docs/reference/versioning.md", "The models are those of Kubernetes {minor} "),
    ("docs/reference/versioning.md", "| {minor} | tested with every change: "),
    ("docs/reference/versioning.md", " on kube-apiserver {version} with etcd"),
    ("docs/reference/versioning.md", "API server behaves like kube-apiserver {minor} "),
)
KUBERNETES_MODULE = "tests/assets/kubernetes"
GO_TYPES = "tools/go_types"
MODULES = (
    KUBERNETES_MODULE,
    "tests/golden/clientgo",
    "tests/kubelet",
    "bench/peers/clientgo",
    GO_TYPES,
)
_TESTED = re.compile(r"^VERSIONS \?= (.*)$", re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Change the versions; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", type=assets.version_argument, help="of Kubernetes: v1.38.0")
    version: str = parser.parse_args(arguments).version
    try:
        changed = edits(ROOT, KUBERNETES, version)
        source = assets.kubernetes_module_file(version)
    except (OSError, ValueError) as error:
        print(f"make new-release: {error}", file=sys.stderr)
        return 1
    kubernetes = ROOT / KUBERNETES_MODULE / "go.mod"
    changed[kubernetes] = assets.module_text(version, source)
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    for folder in MODULES:
        # It imports packages that the new release may lack, and Go would take them from another
        # version; `make go-types` writes the imports again.
        if folder == GO_TYPES:
            continue
        print(f"{folder}/go.sum", flush=True)
        code = subprocess.run(["go", "mod", "tidy"], cwd=ROOT / folder, check=False).returncode
        if code:
            print(f"make new-release: go mod tidy in {folder} ended with {code}", file=sys.stderr)
            return code
    return 0


def edits(root: Path, old: str, new: str) -> dict[Path, str]:
    """The new content of each file that names the version `old`, except the Kubernetes module.

    Raises:
        ValueError: a file does not name it as `PINS` says.
    """
    changed: dict[Path, str] = {}
    for name, pattern in PINS:
        path = root / name
        text = changed.get(path) or path.read_text(encoding="utf-8")
        expected = _filled(pattern, old)
        if text.count(expected) != 1:
            raise ValueError(f"{name} does not have this text once: {expected!r}")
        changed[path] = text.replace(expected, _filled(pattern, new))
    makefile = root / "Makefile"
    changed[makefile] = _TESTED.sub(
        lambda match: f"VERSIONS ?= {' '.join(versions_to_test(match[1].split(), new))}",
        makefile.read_text(encoding="utf-8"),
    )
    for path in (root / folder / "go.mod" for folder in MODULES if folder != KUBERNETES_MODULE):
        # The published modules of v1.38.0 are v0.38.0.
        changed[path] = re.sub(
            rf"^(\s*(?:require )?k8s\.io/\S+ )v0{re.escape(old[2:])}\b",
            rf"\g<1>v0{new[2:]}",
            path.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    return changed


def _filled(pattern: str, version: str) -> str:
    return pattern.format(minor=minor_of(version), version=version.removeprefix("v"))


def minor_of(version: str) -> str:
    """`1.37` of `v1.37.1`."""
    return version.removeprefix("v").rpartition(".")[0]


def versions_to_test(versions: Sequence[str], new: str) -> list[str]:
    """The versions of `make test-versions` after a release: the newest of three minor versions."""
    kept = [each for each in versions if minor_of(each) != minor_of(new)]
    return [*kept, new][-3:]


if __name__ == "__main__":
    sys.exit(main())
