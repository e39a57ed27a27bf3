"""Tests the built wheels and sdists in empty environments, without the sources.

    make dist

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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import final

__all__ = [
    "Environment",
    "SmokeTestFailed",
    "archive_problems",
    "archives_in",
    "files_below",
    "main",
    "names_in",
    "sdist_problems",
    "wheel_problems",
]

ROOT = Path(__file__).parent.parent
DISTRIBUTIONS = {
    "kubeloop": "kubeloop",
    "kubeloop-testing": "kubeloop_testing",
    "kubeloop-cli": "kubeloop_cli",
}
"""The distributions, each after those that it needs, and what one imports."""
CONSTRAINTS = ROOT / "constraints.txt"
INSIDE = Path(__file__).with_name("smoke_inside.py")

_OUTPUT = frozenset({"__pycache__", "build", "dist"})  # directories of build output


class SmokeTestFailed(Exception):
    """A step failed; the message is its output."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Test all archives; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the directory of the wheels and sdists")
    folder: Path = parser.parse_args(arguments).folder
    try:
        problems = [
            problem
            for name in DISTRIBUTIONS
            for problem in archive_problems(name, *archives_in(folder, name))
        ]
        if problems:
            raise SmokeTestFailed("\n".join(problems))
        for name in DISTRIBUTIONS:
            wheel, _ = archives_in(folder, name)
            install_and_use(folder.resolve(), name, [str(wheel.resolve())])
        # The installer builds wheels from them.
        sdists = [str(archives_in(folder, name)[1].resolve()) for name in DISTRIBUTIONS]
        install_and_use(folder.resolve(), "kubeloop-cli", sdists)
    except SmokeTestFailed as error:
        print(f"smoke: {error}", file=sys.stderr)
        return 1
    return 0


# --- the content of the archives


def archives_in(folder: Path, name: str) -> tuple[Path, Path]:
    """The wheel and the sdist of a distribution. Raises: SmokeTestFailed if one is missing."""
    stem = f"{name.replace('-', '_')}-*"
    wheels, sdists = sorted(folder.glob(f"{stem}.whl")), sorted(folder.glob(f"{stem}.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        counts = f"{len(wheels)} wheels and {len(sdists)} sdists"
        raise SmokeTestFailed(
            f"{folder}: {counts} of {name}, expected one of each (run: make dist)"
        )
    return wheels[0], sdists[0]


def archive_problems(name: str, wheel: Path, sdist: Path) -> Iterator[str]:
    """Missing and unexpected files of the archives of a distribution."""
    folder = f"packages/{name}"
    sources = [file.removeprefix(f"{folder}/") for file in files_below(f"{folder}/src")]
    yield from wheel_problems(names_in(wheel), sources)
    yield from sdist_problems(names_in(sdist), [*sources, "LICENSE", "README.md", "pyproject.toml"])


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
            yield f"the wheel has {name}, which is not in src"


def sdist_problems(names: Collection[str], expected: Collection[str]) -> Iterator[str]:
    """Missing files of an sdist, and build output in it."""
    for name in sorted(set(expected) - set(names)):
        yield f"the sdist lacks {name} (add it to its pyproject.toml, under tool.hatch)"
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


def install_and_use(folder: Path, name: str, archives: Sequence[str]) -> None:
    """Install archives of a distribution, and use it. Raises: SmokeTestFailed.

    Its siblings come from `folder`.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kubeloop-smoke-") as directory:
        environment = Environment(Path(directory))
        environment.create()
        environment.install("--find-links", str(folder), *archives)
        environment.check()
        environment.run(str(environment.python), "-I", str(INSIDE), DISTRIBUTIONS[name])
        _USES[name](environment)
    names = ", ".join(Path(each).name for each in archives)
    print(f"{names}: installed and used in {time.monotonic() - started:.0f} s")


def _use_library(environment: Environment) -> None:
    """What is served needs the extra `operator`, and says so."""
    for statement in (
        "from kubeloop.runtime import WebhookServer; WebhookServer()",
        "from kubeloop import Manager; Manager(health=8081)",
        "from kubeloop.inspector import Inspector",
    ):
        output = environment.run(str(environment.python), "-I", "-c", statement, code=1)
        if "need aiohttp (install kubeloop[operator])" not in output.splitlines()[-1]:
            raise SmokeTestFailed(f"{statement}: the extra is not named:\n{output}")


def _use_testing(environment: Environment) -> None:
    environment.install("pytest", "pytest-asyncio")
    environment.run(str(environment.python), "-I", str(INSIDE), "kubeloop_testing", "--server")
    test = environment.folder / "test_smoke.py"
    test.write_text(_TEST, encoding="utf-8")
    environment.run(
        str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name
    )


def _use_command(environment: Environment) -> None:
    environment.run(environment.program("kubeloop"), "--help")
    environment.run(str(environment.python), "-m", "kubeloop_cli", "version", "--client")


_USES: Mapping[str, Callable[[Environment], None]] = {
    "kubeloop": _use_library,
    "kubeloop-testing": _use_testing,
    "kubeloop-cli": _use_command,
}

_TEST = """
import pytest


@pytest.mark.asyncio
async def test_the_plugin_provides_fixtures(kube_client):
    assert list(await kube_client.core_v1.pods("default").list()) == []
"""


if __name__ == "__main__":
    sys.exit(main())
