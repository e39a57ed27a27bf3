"""Tar archives: what is written is what was read, and nothing outside of the target."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.streams import UnsafeArchive
from kubeloop.streams.archives import ArchiveReader, ArchiveWriter


def archive(
    *members: tarfile.TarInfo | tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT
) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=form) as tar:
        for each in members:
            member, content = each if isinstance(each, tuple) else (each, b"")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return whole.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, link, 0o755
    return member


def extract(target: Path, data: bytes, *, name: str = "site", size: int = 1000) -> ArchiveReader:
    reader = ArchiveReader(target, name)
    try:
        for at in range(0, len(data), size):
            reader.feed(data[at : at + size])
    finally:
        reader.close()
    return reader


def tree(root: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """Everything below a folder: mode, and content or link."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content: bytes | str | None = None
        if stat.S_ISLNK(status.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        found[str(path.relative_to(root))] = (stat.S_IMODE(status.st_mode), content)
    return found


@pytest.mark.parametrize("size", [1, 511, 512, 513, 100_000])
def test_a_folder_survives_the_way_through_an_archive(tmp_path: Path, size: int) -> None:
    source = tmp_path / "site"
    (source / "empty").mkdir(parents=True)
    (source / "deep" / ("long" * 40) / "er").mkdir(parents=True)
    (source / "deep" / ("long" * 40) / "er" / "ünï").write_bytes(b"text")
    (source / "run.sh").write_bytes(b"#!/bin/sh\n" * 5000)
    (source / "run.sh").chmod(0o751)
    (source / "link").symlink_to("deep/other")
    (source / "deep" / "up").symlink_to("../run.sh")
    (source / "none").write_bytes(b"")
    (source / "empty").chmod(0o555)
    writer = ArchiveWriter(source, "site")

    reader = extract(tmp_path / "copy", b"".join(writer.chunks()), size=size)

    assert tree(tmp_path / "copy") == tree(source)
    assert (reader.files, reader.size) == (writer.files, writer.size) == (5, 50_004)
    assert (tmp_path / "copy/run.sh").stat().st_mtime == int((source / "run.sh").stat().st_mtime)
    assert reader.is_complete


def test_the_archives_of_gnu_tar_are_read(tmp_path: Path) -> None:
    long = "x" * 150
    members: list[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]] = [
        entry("site", tarfile.DIRTYPE),
        (entry(f"site/{long}"), b"one"),
        entry("site/same", tarfile.LNKTYPE, f"site/{long}"),
        entry("site/link", tarfile.SYMTYPE, long),
    ]

    extract(tmp_path / "copy", archive(*members, form=tarfile.GNU_FORMAT))

    assert (tmp_path / "copy" / "same").read_bytes() == b"one"
    assert (tmp_path / "copy" / "link").read_bytes() == b"one"


def test_a_file_becomes_the_target(tmp_path: Path) -> None:
    extract(tmp_path / "motd", archive((entry("./site"), b"hi")))

    assert (tmp_path / "motd").read_bytes() == b"hi"


def test_existing_files_and_links_are_replaced(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    target = tmp_path / "copy"
    target.mkdir()
    (target / "file").symlink_to(outside)

    extract(target, archive(entry("site", tarfile.DIRTYPE), (entry("site/file"), b"new")))

    assert outside.read_bytes() == b"mine"
    assert (target / "file").read_bytes() == b"new"
    assert not (target / "file").is_symlink()


ESCAPES: dict[str, Callable[[], list[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]]]] = {
    "parent": lambda: [(entry("site/../../evil"), b"x")],
    "absolute": lambda: [(entry("/evil"), b"x")],
    "another name": lambda: [(entry("other/evil"), b"x")],
    "absolute link": lambda: [
        entry("site", tarfile.DIRTYPE),
        entry("site/l", tarfile.SYMTYPE, "/etc"),
    ],
    "link to a parent": lambda: [
        entry("site", tarfile.DIRTYPE),
        entry("site/l", tarfile.SYMTYPE, ".."),
    ],
    "link through a link": lambda: [
        entry("site", tarfile.DIRTYPE),
        entry("site/here", tarfile.SYMTYPE, "."),
        entry("site/here/here/l", tarfile.SYMTYPE, "../.."),
    ],
    "link with a parent inside": lambda: [
        entry("site", tarfile.DIRTYPE),
        entry("site/l", tarfile.SYMTYPE, "a/../../.."),
    ],
    "the target as a link": lambda: [entry("site", tarfile.SYMTYPE, "evil")],
    "hard link": lambda: [
        entry("site", tarfile.DIRTYPE),
        entry("site/l", tarfile.LNKTYPE, "/etc/passwd"),
    ],
    "device": lambda: [entry("site", tarfile.DIRTYPE), entry("site/null", tarfile.CHRTYPE)],
    "pipe": lambda: [entry("site", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("case", ESCAPES)
def test_nothing_is_written_outside_of_the_target(tmp_path: Path, case: str) -> None:
    (tmp_path / "in").mkdir()

    with pytest.raises(UnsafeArchive):
        extract(tmp_path / "in" / "copy", archive(*ESCAPES[case]()))

    assert not (tmp_path / "evil").exists()
    assert {path.name for path in (tmp_path / "in").iterdir()} <= {"copy"}


def test_a_folder_that_is_a_link_to_the_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "sub").symlink_to(tmp_path / "outside")

    with pytest.raises(UnsafeArchive, match="leads out of the target"):
        extract(tmp_path / "copy", archive((entry("site/sub/file"), b"x")))

    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_that_is_not_complete_does_not_appear(tmp_path: Path) -> None:
    data = archive(
        entry("site", tarfile.DIRTYPE), (entry("site/a"), b"a"), (entry("site/b"), bytes(5000))
    )

    reader = extract(tmp_path / "copy", data[:4000])

    assert (reader.files, reader.is_complete) == (1, False)
    assert list((tmp_path / "copy").iterdir()) == [tmp_path / "copy" / "a"]


def test_what_is_no_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="not an archive"):
        extract(tmp_path / "copy", b"sh: tar: not found\n" * 100)


def test_a_device_is_not_sent(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InvalidArgument, match="neither a file nor a folder nor a link"):
        list(ArchiveWriter(tmp_path, "site").chunks())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_hostile_archives_write_only_below_the_target(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("hostile")
    names = st.lists(st.sampled_from(["a", "b", "..", ".", ""]), max_size=4).map("/".join)
    kinds = st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE])
    members: list[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]] = [
        entry("site", tarfile.DIRTYPE)
    ]
    for _ in range(data.draw(st.integers(1, 8))):
        kind = data.draw(kinds)
        link = data.draw(names) if kind in {tarfile.SYMTYPE, tarfile.LNKTYPE} else ""
        link = f"site/{link}" if kind == tarfile.LNKTYPE else link
        member = entry(f"site/{data.draw(names)}", kind, link)
        members.append((member, b"data") if kind == tarfile.REGTYPE else member)
    (root / "in").mkdir()

    with contextlib.suppress(UnsafeArchive, OSError):
        extract(root / "in" / "copy", archive(*members))

    assert {path.name for path in root.iterdir()} == {"in"}
    assert {path.name for path in (root / "in").iterdir()} <= {"copy"}
    real = (root / "in" / "copy").resolve()
    for path in (root / "in" / "copy").rglob("*"):
        if not path.is_symlink():
            assert real in path.resolve().parents
