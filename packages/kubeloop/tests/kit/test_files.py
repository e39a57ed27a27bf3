"""Files that only their owner can read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubeloop.kit import open_private

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no modes of files here")


@pytest.mark.parametrize("mode", [None, 0o644, 0o666])
def test_a_private_file_is_private_even_if_it_exists(tmp_path: Path, mode: int | None) -> None:
    path = tmp_path / "file"
    if mode is not None:
        path.write_bytes(b"something longer")
        path.chmod(mode)

    with open_private(path) as file:
        file.write(b"secret")
        file.flush()
        assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == b"secret"


def test_a_device_keeps_its_mode() -> None:
    before = Path(os.devnull).stat().st_mode
    with open_private(Path(os.devnull)) as file:
        file.write(b"secret")

    assert Path(os.devnull).stat().st_mode == before
