"""Installs etcd, kube-apiserver, kube-controller-manager and kubectl for tests.

    python tools/assets.py                     build or copy what is missing, print the directory
    python tools/assets.py --where             print the directory only
    python tools/assets.py --version v1.36.4   kube-apiserver of another version, beside it
    python tools/assets.py --only NAME         build one of our own programs

They are copied from `KUBEBUILDER_ASSETS` if it is set, and otherwise built with Go at the versions
of tests/assets. An interrupted run leaves no process behind, and the next one continues.
Our own programs (the stand-in kubelet of tests/kubelet, client-go of bench/peers/clientgo) are
built again when their source changes; without Go, tests that need them are skipped.
Another version has a directory of its own in this one; its Go module is generated there.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
KUBERNETES = "v1.37.1"
ETCD = "v3.6.16"
_STAMP = f"kubernetes {KUBERNETES}, etcd {ETCD}\n"
# Name, folder of the module, package.
PROGRAMS = (
    ("etcd", "tests/assets/etcd", "go.etcd.io/etcd/server/v3"),
    ("kubectl", "tests/assets/kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    ("kube-apiserver", "tests/assets/kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    (
        "kube-controller-manager",
        "tests/assets/kubernetes",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
)
PACKAGES = {name: package for name, _, package in PROGRAMS}
OWN = (
    ("stand-in-kubelet", "tests/kubelet", "."),
    ("bench-clientgo", "bench/peers/clientgo", "."),
)
_VERSION = "k8s.io/component-base/version"
_CLIENT_VERSION = "k8s.io/client-go/pkg/version"
_NO_GO = """\
make assets: Go is not installed, and KUBEBUILDER_ASSETS is not set
Install Go (1.26 or newer), or set KUBEBUILDER_ASSETS to a directory with
etcd, kube-apiserver, kube-controller-manager and kubectl."""


def folder(version: str = KUBERNETES) -> Path:
    """The directory of the programs in the user's cache, shared by all clones."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    assets = Path(root, "kubeloop", "assets")
    return assets if version == KUBERNETES else assets / version


def main(arguments: Sequence[str] | None = None) -> int:
    """Install the programs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--where", action="store_true", help="print the directory only")
    parser.add_argument(
        "--version", type=version_argument, default=KUBERNETES, help="of Kubernetes"
    )
    parser.add_argument("--only", choices=[name for name, _, _ in OWN], help="of our own programs")
    given = parser.parse_args(arguments)
    if given.only:
        folder().mkdir(parents=True, exist_ok=True)
        return _build_own(given.only)
    if given.version == KUBERNETES:
        return _install(only_print=given.where)
    code = 0 if given.where else _install_version(given.version)
    if code == 0:
        print(folder(given.version))
    return code


def version_argument(text: str) -> str:
    """A version of Kubernetes, for argparse."""
    if re.fullmatch(r"v1\.\d+\.\d+", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as v1.36.4")
    return text


def _install(*, only_print: bool) -> int:
    if not only_print:
        folder().mkdir(parents=True, exist_ok=True)
        _remove_other_versions()
        given = os.environ.get("KUBEBUILDER_ASSETS")
        code = _copy(Path(given)) if given else _build(_missing())
        code = code or _build_own(*(name for name, _, _ in OWN))
        if code:
            return code
    print(folder())
    return 0


def _install_version(version: str) -> int:
    """Build kube-apiserver of `version` in its own directory, with the etcd of this one."""
    target = folder(version)
    if os.access(target / "kube-apiserver", os.X_OK):
        return 0
    if shutil.which("go") is None:
        print(_NO_GO, file=sys.stderr)
        return 1
    etcd = [part for part in _missing() if part[0] == "etcd"]
    folder().mkdir(parents=True, exist_ok=True)
    if code := _build(etcd):
        return code
    try:
        source = kubernetes_module_file(version)
    except ValueError as error:
        print(f"make assets: {error}", file=sys.stderr)
        return 1
    module = target / "module"
    module.mkdir(parents=True, exist_ok=True)
    (module / "go.mod").write_text(module_text(version, source))
    print(f"building kube-apiserver {version}", file=sys.stderr)
    code = _build_one("kube-apiserver", module, PACKAGES["kube-apiserver"], version, "-mod=mod")
    if code:
        print(f"make assets: building kube-apiserver {version} ended with {code}", file=sys.stderr)
        return code
    for name in ("etcd", "kubectl"):
        (target / name).unlink(missing_ok=True)
        if (folder() / name).exists():  # kubectl is not built for this
            (target / name).hardlink_to(folder() / name)
    return 0


def kubernetes_module_file(version: str) -> str:
    """The go.mod of k8s.io/kubernetes at `version`.

    Raises:
        ValueError: Go cannot download it.
    """
    command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{version}"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, check=False)
    downloaded = json.loads(ended.stdout)  # also after a failure
    if "GoMod" not in downloaded or "Error" in downloaded:
        raise ValueError(str(downloaded.get("Error", downloaded)))
    return Path(downloaded["GoMod"]).read_text()


def module_text(version: str, source: str) -> str:
    """A go.mod that requires k8s.io/kubernetes at `version`, whose own go.mod is `source`.

    Kubernetes replaces its staging modules by folders of its repository, which only its main
    module can do; they are published as v0.<minor>.<patch>.
    """
    published = version.replace("v1.", "v0.", 1)
    replaced = re.findall(r"^\s+(\S+) => \./staging/", source, re.MULTILINE)
    language = re.search(r"^go .*$", source, re.MULTILINE)
    assert language is not None, "every go.mod names the version of the language"
    lines = ["module kubeloop.test/kubernetes", "", language[0], ""]
    lines += [f"require k8s.io/kubernetes {version}", "", "replace ("]
    lines += [f"\t{name} => {name} {published}" for name in replaced]
    return "\n".join([*lines, ")", ""])


class _Raw(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


def _remove_other_versions() -> None:
    stamp = folder() / "versions"
    if not stamp.exists() or stamp.read_text() != _STAMP:
        for name, _, _ in PROGRAMS:
            (folder() / name).unlink(missing_ok=True)
        stamp.write_text(_STAMP)


def _missing() -> list[tuple[str, str, str]]:
    return [part for part in PROGRAMS if not os.access(folder() / part[0], os.X_OK)]


def _copy(source: Path) -> int:
    for name, _, _ in _missing():
        if not os.access(source / name, os.X_OK):
            if name == "kube-controller-manager":  # not in the archives of envtest
                continue
            print(f"make assets: {source} has no program {name}", file=sys.stderr)
            return 1
        target = folder() / f".{name}.{os.getpid()}"
        shutil.copy2(source / name, target)
        target.replace(folder() / name)
    return 0


def _build(missing: Sequence[tuple[str, str, str]]) -> int:
    if not missing:
        return 0
    if shutil.which("go") is None:
        print(_NO_GO, file=sys.stderr)
        return 1
    for index, (name, module, package) in enumerate(missing):
        print(f"[{index + 1}/{len(missing)}] building {name}", file=sys.stderr)
        code = _build_one(name, ROOT / module, package)
        if code:
            print(f"make assets: building {name} ended with {code}", file=sys.stderr)
            return code
    return 0


def _build_own(*names: str) -> int:
    """Build those whose source has changed; this takes seconds to minutes."""
    changed = [part for part in OWN if part[0] in names and not _is_current(part)]
    if changed and shutil.which("go") is None:
        for name, _, _ in changed:
            print(f"make assets: Go is not installed, skipping {name}", file=sys.stderr)
            (folder() / name).unlink(missing_ok=True)  # of an older source
        return 0
    for part in changed:
        if code := _build([part]):
            return code
        _source_stamp(part).write_text(_digest(part))
    return 0


def _is_current(part: tuple[str, str, str]) -> bool:
    stamp = _source_stamp(part)
    is_there = os.access(folder() / part[0], os.X_OK) and stamp.exists()
    return is_there and stamp.read_text() == _digest(part)


def _source_stamp(part: tuple[str, str, str]) -> Path:
    return folder() / f"{part[0]}.source"


def _digest(part: tuple[str, str, str]) -> str:
    module = ROOT / part[1]
    files = sorted([*module.glob("*.go"), module / "go.mod", module / "go.sum"])
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _build_one(
    name: str, module: Path, package: str, version: str = KUBERNETES, *options: str
) -> int:
    major, minor, _ = version.removeprefix("v").split(".")
    flags = ["-s", "-w"]
    for variable in (_VERSION, _CLIENT_VERSION):
        flags += ["-X", f"{variable}.gitVersion={version}"]
        flags += ["-X", f"{variable}.gitMajor={major}", "-X", f"{variable}.gitMinor={minor}"]
    target = folder(version) / f".{name}.{os.getpid()}"
    command = ["go", "build", *options, "-trimpath", "-ldflags", " ".join(flags)]
    command += ["-o", str(target), package]
    try:
        with _Progress(name):
            code = _run(command, module)
        if code == 0:
            target.replace(folder(version) / name)
    finally:
        target.unlink(missing_ok=True)
    return code


def _run(command: Sequence[str], directory: Path) -> int:
    """Run a command; an interruption kills it and its children."""
    process: subprocess.Popen[bytes] | None = None
    try:
        with _signals_deferred():
            process = subprocess.Popen(command, cwd=directory, start_new_session=True)
        return process.wait()
    except BaseException:
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise


@contextlib.contextmanager
def _signals_deferred() -> Iterator[None]:
    """Defer signals until the end of the block, so that no started process is missed."""
    received: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for each in received:
        signal.raise_signal(each)


def _terminate(*_: object) -> None:
    sys.exit(128 + signal.SIGTERM)


class _Progress:
    """Reports every half minute that the build is running."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _report(self) -> None:
        started = time.monotonic()
        while not self._done.wait(30):
            elapsed = time.monotonic() - started
            print(f"    {self._name}: {elapsed:.0f} s so far", file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _terminate)  # as Ctrl-C: kills the running build
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("make assets: interrupted; the next run continues", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
