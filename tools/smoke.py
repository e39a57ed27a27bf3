"""Tests the built wheel and sdist in empty environments, without the sources.

    python -m build --outdir dist && python tools/smoke.py dist

Guarantees: of the current environment only Python and the installer are used (uv if it is
installed, otherwise pip, with the settings of the machine); every problem of the archives is
printed, and the exit code is 1 if there is one. Nothing is left behind.
See also: `smoke_inside` (the checks inside an environment).
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
    "Environment",
    "SmokeTestFailed",
    "archives_in",
    "files_below",
    "main",
    "names_in",
    "sdist_problems",
    "wheel_problems",
]

ROOT = Path(__file__).parent.parent
PACKAGE = "kubeloop"
CONSTRAINTS = ROOT / "constraints.txt"
INSIDE = Path(__file__).with_name("smoke_inside.py")

# What `make test`, `make check` and `make docs` need: an sdist contains all of it.
FOLDERS = (".ci", ".github", "bench", "docs", "examples", "src", "tests", "tools")
FILES = (
    ".pre-commit-config.yaml",
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
_OUTPUT = frozenset({"__pycache__", "build", "dist"})  # directories of build output


class SmokeTestFailed(Exception):
    """A step failed; the message is its output."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Test both archives; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the directory of the wheel and the sdist")
    folder: Path = parser.parse_args(arguments).folder
    try:
        wheel, sdist = archives_in(folder)
        problems = [
            *wheel_problems(names_in(wheel), files_below(f"src/{PACKAGE}")),
            *sdist_problems(names_in(sdist), [*files_below(*FOLDERS), *FILES]),
        ]
        if problems:
            raise SmokeTestFailed("\n".join(problems))
        install_and_use(wheel.resolve(), without_extras_first=True)
        install_and_use(sdist.resolve())  # the installer builds a wheel from it
    except SmokeTestFailed as error:
        print(f"smoke: {error}", file=sys.stderr)
        return 1
    return 0


# --- the content of the archives


def archives_in(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist in a directory. Raises: SmokeTestFailed if one is missing."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        found = f"{len(wheels)} wheels and {len(sdists)} sdists"
        raise SmokeTestFailed(f"{folder}: found {found}, expected one of each (run: make dist)")
    return wheels[0], sdists[0]


def names_in(archive: Path) -> list[str]:
    """The files of an archive; for an sdist without its top-level directory."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as sdist:
        paths = [PurePosixPath(each.name) for each in sdist.getmembers() if each.isfile()]
    return [str(path.relative_to(path.parts[0])) for path in paths]


def files_below(*folders: str) -> list[str]:
    """The files in directories of the repository, by their relative paths."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))]
    paths = [path.relative_to(ROOT) for path in found if path.is_file()]
    return [path.as_posix() for path in paths if not _OUTPUT & set(path.parts)]


def wheel_problems(names: Collection[str], sources: Collection[str]) -> Iterator[str]:
    """Missing and unexpected files of a wheel."""
    expected = {name.removeprefix("src/") for name in sources}
    for name in sorted(expected - set(names)):
        yield f"the wheel lacks {name}"
    for name in sorted(set(names) - expected):
        if not PurePosixPath(name).parts[0].endswith(".dist-info"):
            yield f"the wheel has {name}, which is not in src/{PACKAGE}"


def sdist_problems(names: Collection[str], expected: Collection[str]) -> Iterator[str]:
    """Missing files of an sdist, and build output in it."""
    for name in sorted(set(expected) - set(names)):
        yield f"the sdist lacks {name} (add it to pyproject.toml, under tool.hatch)"
    for name in sorted(names):
        if _OUTPUT & set(PurePosixPath(name).parts):
            yield f"the sdist has {name}"


# --- installation


@final
class Environment:
    """An empty environment in a directory away from the sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = shutil.which("uv")

    def create(self) -> None:
        target = str(self.folder / "env")
        if self._uv:
            self.run(self._uv, "venv", "--quiet", "--python", sys.executable, target)
        else:
            # Without pip: the current one installs into it.
            self.run(sys.executable, "-m", "venv", "--without-pip", target)

    def install(self, *what: str) -> None:
        self._installer("install", "--quiet", "--constraint", str(CONSTRAINTS), *what)

    def check(self) -> None:
        """Check the dependencies. Raises: SmokeTestFailed."""
        self._installer("check")

    def run(self, *command: str, code: int = 0) -> str:
        """Run a command in the directory; returns its output.

        Raises: SmokeTestFailed if it has another exit code.
        """
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=_environment_variables(),
            capture_output=True,
            text=True,
        )
        output = f"{done.stdout}{done.stderr}".strip()
        if done.returncode != code:
            raise SmokeTestFailed(
                f"{' '.join(command)}: exit code {done.returncode}, not {code}:\n{output}"
            )
        return output

    def program(self, name: str) -> str:
        return str(self.python.with_name(name))

    def _installer(self, verb: str, *arguments: str) -> None:
        if self._uv:
            self.run(self._uv, "pip", verb, "--python", str(self.python), *arguments)
        else:
            pip = (sys.executable, "-m", "pip", "--python", str(self.python))
            self.run(*pip, verb, "--disable-pip-version-check", *arguments)


def _environment_variables() -> dict[str, str]:
    """The environment variables, without those that refer to the sources."""
    excluded = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "KUBECONFIG", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in excluded}


def install_and_use(archive: Path, *, without_extras_first: bool = False) -> None:
    """Install an archive with its extras, and use it. Raises: SmokeTestFailed."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kubeloop-smoke-") as folder:
        environment = Environment(Path(folder))
        environment.create()
        if without_extras_first:
            environment.install(str(archive))
            environment.check()
            _use_without_extras(environment)
        environment.install(f"{archive}[cli,testing]", "pytest", "pytest-asyncio")
        environment.check()
        _use_with_extras(environment)
    print(f"{archive.name}: installed and used in {time.monotonic() - started:.0f} s")


def _use_without_extras(environment: Environment) -> None:
    environment.run(str(environment.python), "-I", str(INSIDE))
    output = environment.run(environment.program(PACKAGE), "--help", code=2)
    if output.count("\n") or "pip install 'kubeloop[cli]'" not in output:
        raise SmokeTestFailed(
            f"kubeloop without the extra cli should print one line with a hint, printed:\n{output}"
        )


def _use_with_extras(environment: Environment) -> None:
    environment.run(str(environment.python), "-I", str(INSIDE), "--server")
    environment.run(environment.program(PACKAGE), "--help")
    test = environment.folder / "test_smoke.py"
    test.write_text(_TEST, encoding="utf-8")
    environment.run(
        str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name
    )


_TEST = """
import pytest


@pytest.mark.asyncio
async def test_the_plugin_provides_fixtures(kube_client):
    assert list(await kube_client.core_v1.pods("default").list()) == []
"""


if __name__ == "__main__":
    sys.exit(main())
