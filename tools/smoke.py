"""Tries the built wheel and sdist as a user gets them: in empty environments, without the sources.

    python -m build --outdir dist && python tools/smoke.py dist

Promises: nothing of this folder's environment is used, but its Python and its installer (uv
where there is one, else pip, with the machine's own settings); every problem of the archives
is named, and the exit code is 1 when there is one. Nothing stays behind.
Elsewhere: what is asked inside an environment (`smoke_inside`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import final

__all__ = [
    "Broken",
    "Environment",
    "archives_in",
    "faults_of_sdist",
    "faults_of_wheel",
    "files_below",
    "main",
    "names_in",
]

ROOT = Path(__file__).parent.parent
PACKAGE = "kubeloop"
CONSTRAINTS = ROOT / "constraints.txt"
INSIDE = Path(__file__).with_name("smoke_inside.py")

# What `make test`, `make check` and `make docs` read: an sdist has all of it.
FOLDERS = (".ci", ".github", "bench", "docs", "examples", "src", "tests", "tools")
FILES = (
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "constraints.txt",
    "mkdocs.yml",
    "pyproject.toml",
)
_MADE = frozenset({"__pycache__", "build", "dist"})  # what stands there only after work


class Broken(Exception):
    """A step failed; the message is what it printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try both archives; the answer is the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the wheel and the sdist are")
    folder: Path = parser.parse_args(arguments).folder
    try:
        wheel, sdist = archives_in(folder)
        faults = [
            *faults_of_wheel(names_in(wheel), files_below(f"src/{PACKAGE}")),
            *faults_of_sdist(names_in(sdist), [*files_below(*FOLDERS), *FILES]),
        ]
        if faults:
            raise Broken("\n".join(faults))
        try_out(wheel.resolve(), alone_first=True)
        try_out(sdist.resolve())  # a wheel again, once it is installed
    except Broken as error:
        print(f"smoke: {error}", file=sys.stderr)
        return 1
    return 0


# --- what is in the archives


def archives_in(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist in a folder. Raises: Broken unless there is one of each."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        found = f"{len(wheels)} wheels and {len(sdists)} sdists"
        raise Broken(f"{folder}: found {found}, expected one of each (run: make dist)")
    return wheels[0], sdists[0]


def names_in(archive: Path) -> list[str]:
    """The files of an archive; those of an sdist without the folder that holds them all."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as sdist:
        paths = [PurePosixPath(each.name) for each in sdist.getmembers() if each.isfile()]
    return [str(path.relative_to(path.parts[0])) for path in paths]


def files_below(*folders: str) -> list[str]:
    """The files in some folders of ours, data included, by their paths from here."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    paths = [path.relative_to(ROOT) for path in found if path.is_file()]
    return [path.as_posix() for path in paths if not _MADE & set(path.parts)]


def faults_of_wheel(names: Collection[str], sources: Collection[str]) -> Iterator[str]:
    """What a wheel lacks of the package, and what it has that is none of its business."""
    wanted = {name.removeprefix("src/") for name in sources}
    for name in sorted(wanted - set(names)):
        yield f"the wheel lacks {name}"
    for name in sorted(set(names) - wanted):
        if not PurePosixPath(name).parts[0].endswith(".dist-info"):
            yield f"the wheel has {name}, which is not in src/{PACKAGE}"


def faults_of_sdist(names: Collection[str], wanted: Collection[str]) -> Iterator[str]:
    """What an sdist lacks of what its own `make test` reads, and what only work has made."""
    for name in sorted(set(wanted) - set(names)):
        yield f"the sdist lacks {name} (name it in pyproject.toml, under tool.hatch)"
    for name in sorted(names):
        if _MADE & set(PurePosixPath(name).parts):
            yield f"the sdist has {name}"


# --- what they do when they are installed


@final
class Environment:
    """An environment with nothing in it, in a folder away from the sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = shutil.which("uv")

    def make(self) -> None:
        target = str(self.folder / "env")
        if self._uv:
            self.run(self._uv, "venv", "--quiet", "--python", sys.executable, target)
        else:
            # Without a pip of its own: ours installs into it, and it stays empty.
            self.run(sys.executable, "-m", "venv", "--without-pip", target)

    def install(self, *what: str) -> None:
        self._installer("install", "--quiet", "--constraint", str(CONSTRAINTS), *what)

    def check(self) -> None:
        """Raises: Broken when what is installed does not fit together."""
        self._installer("check")

    def run(self, *command: str, code: int = 0) -> str:
        """What a command prints, in this folder. Raises: Broken at another exit code."""
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=_surroundings(),
            capture_output=True,
            text=True,
        )
        said = f"{done.stdout}{done.stderr}".strip()
        if done.returncode != code:
            raise Broken(f"{' '.join(command)}: exit code {done.returncode}, not {code}:\n{said}")
        return said

    def program(self, name: str) -> str:
        return str(self.python.with_name(name))

    def _installer(self, verb: str, *arguments: str) -> None:
        if self._uv:
            self.run(self._uv, "pip", verb, "--python", str(self.python), *arguments)
        else:
            pip = (sys.executable, "-m", "pip", "--python", str(self.python))
            self.run(*pip, verb, "--disable-pip-version-check", *arguments)


def _surroundings() -> dict[str, str]:
    """The environment variables, without those that would lead back to the sources."""
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "KUBECONFIG", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in ours}


def try_out(archive: Path, *, alone_first: bool = False) -> None:
    """Install an archive with its extras and use it; `alone_first` without. Raises: Broken."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kubeloop-smoke-") as folder:
        environment = Environment(Path(folder))
        environment.make()
        if alone_first:
            environment.install(str(archive))
            environment.check()
            _without_extras(environment)
        environment.install(f"{archive}[cli,testing]", "pytest", "pytest-asyncio")
        environment.check()
        _with_extras(environment)
    print(f"{archive.name}: installed and used in {time.monotonic() - began:.0f} s")


def _without_extras(environment: Environment) -> None:
    environment.run(str(environment.python), "-I", str(INSIDE))
    said = environment.run(environment.program(PACKAGE), "--help", code=2)
    if said.count("\n") or "pip install 'kubeloop[cli]'" not in said:
        raise Broken(f"kubeloop without its extra should say in one line what to do, said:\n{said}")


def _with_extras(environment: Environment) -> None:
    environment.run(str(environment.python), "-I", str(INSIDE), "--server")
    environment.run(environment.program(PACKAGE), "--help")
    test = environment.folder / "test_smoke.py"
    test.write_text(_A_TEST, encoding="utf-8")
    environment.run(
        str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name
    )


_A_TEST = """
import pytest


@pytest.mark.asyncio
async def test_the_plugin_brings_its_fixtures(kube_client):
    assert list(await kube_client.core_v1.pods("default").list()) == []
"""


if __name__ == "__main__":
    sys.exit(main())
