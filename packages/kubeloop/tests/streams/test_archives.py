"""Tar archives: what is written is what was read, and nothing outside of the target."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import shutil
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
from tests.support.tar_headers import BLOCK, FIELDS, raw_header, with_checksum


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
    with pytest.raises(UnsafeArchive, match="cannot be read: a header"):
        extract(tmp_path / "copy", b"sh: tar: not found\n" * 100)


_BASE_256 = b"\x80" + bytes(3)


def pax(records: bytes) -> bytes:
    head = raw_header("pax", b"x", size=f"{len(records):o}".encode())
    return head + records + bytes(-len(records) % BLOCK)


def record(key: str, value: str) -> bytes:
    """One record of a pax header."""
    size = len(f" {key}={value}\n".encode())
    total = size + len(str(size))
    total = size + len(str(total))
    return f"{total} {key}={value}\n".encode()


MALFORMED = {
    "a negative size": raw_header(size=b"-0000000001"),
    "a negative size of base 256": raw_header(size=b"\xff" * 12),
    "a huge size of base 256": raw_header(size=b"\x80" + b"\x7f" * 11),
    "a size with an underscore": raw_header(size=b"1_0"),
    "a size that is no number": raw_header(size=b"xyz"),
    "a negative size of a pax header": raw_header(kind=b"x", size=b"-1"),
    "a pax header of 2 MiB": raw_header(kind=b"x", size=b"10000000"),
    "an empty long name": raw_header(kind=b"L", size=b"0"),
    "a negative size in pax": pax(record("size", "-512")) + raw_header(),
    "a size in pax that is no number": pax(record("size", "abc")) + raw_header(),
    "a huge size in pax": pax(record("size", "9" * 400)) + raw_header(),
    "a time that is not a number": pax(record("mtime", "nan")) + raw_header(),
    "an infinite time": pax(record("mtime", "inf")) + raw_header(),
    "a time with an exponent": pax(record("mtime", "1e300")) + raw_header(),
    "a time of arabic digits": pax(record("mtime", "٣")) + raw_header(),
    "a record without its length": pax(b"x path=a\n") + raw_header(),
    "a record that is longer than its header": pax(b"999 path=a\n") + raw_header(),
    "a record of length 0": pax(b"0 path=a\n") + raw_header(),
    "a path with a NUL": pax(record("path", "site\0x")) + raw_header(),
    "a link with a NUL": pax(record("linkpath", "a\0b")) + raw_header("site/l", b"2"),
    "a path of 100,000 folders": pax(record("path", "site" + "/a" * 100_000)) + raw_header(),
    "a name that is too long": pax(record("path", "site/" + "x" * 300)) + raw_header(),
    "a sparse file": pax(record("GNU.sparse.major", "1")) + raw_header(),
    "no name": raw_header(""),
    "an unknown type": raw_header(kind=b"S"),
    "a wrong checksum": raw_header().replace(b"ustar", b"Ustar"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_archive_is_an_error_at_once(tmp_path: Path, case: str) -> None:
    """However much follows it."""
    folder = raw_header(kind=b"5") if b"site/" in MALFORMED[case] else b""

    with pytest.raises(UnsafeArchive):
        extract(tmp_path / "copy", folder + MALFORMED[case] + bytes(50_000_000), size=1 << 20)


@pytest.mark.parametrize(
    "header",
    [
        raw_header(mtime=b"\x80" + b"\x7f" * 11),
        raw_header(mtime=b"\xff" * 12),
        pax(record("mtime", "9" * 25)) + raw_header(),
        pax(record("mtime", "-1.5")) + raw_header(),
    ],
)
def test_a_time_that_no_file_can_have_is_replaced_by_the_nearest(
    tmp_path: Path, header: bytes
) -> None:
    extract(tmp_path / "copy", header + bytes(1024))

    assert (tmp_path / "copy").read_bytes() == b""


def test_a_size_of_base_256_is_read(tmp_path: Path) -> None:
    size = (3).to_bytes(8, "big")
    content = b"abc".ljust(BLOCK, b"\0")

    extract(tmp_path / "copy", raw_header(size=_BASE_256 + size) + content + bytes(1024))

    assert (tmp_path / "copy").read_bytes() == b"abc"


ODD = [
    *(b"", b"0", b"-1", b"-0000000777", b"7777777777777", b"1_0", b"0o7", b"+1", b" 7 ", b"8", b"nan"),
    *(b"\xff" * 12, b"\x80" + b"\x7f" * 11, b"\x80" + bytes(10) + b"\x03", b"site", b"site/..", b"/"),
    *(b"x" * 155, "ü".encode() * 60, b"\xff\xfe", b"5", b"L", b"K", b"x", b"g", b"1", b"2", b"S", b"."),
    *(b"size=-1\n", b"size=9\n", b"mtime=nan\n", b"path=../../evil\n", b"99999999999 a=b\n"),
]  # fmt: skip


@functools.cache
def valid_archive(form: int) -> bytes:
    long = "deep/" + "ü" * 120
    members: list[tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]] = [
        entry("site", tarfile.DIRTYPE),
        entry("site/deep", tarfile.DIRTYPE),
        (entry(f"site/{long}"), b"one" * 300),
        (entry("site/file"), b"two"),
        entry("site/link", tarfile.SYMTYPE, long),
        entry("site/same", tarfile.LNKTYPE, "site/file"),
        entry("site/deep/up", tarfile.SYMTYPE, "../file"),
    ]
    return archive(*members, form=form)


def mutated_archive(chance: random.Random) -> bytes:
    """An archive of one of the formats, with a few changes; most headers keep a right checksum."""
    data = bytearray(valid_archive(chance.choice([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])))
    for _ in range(chance.randint(1, 4)):
        block = BLOCK * chance.randrange(len(data) // BLOCK)
        match chance.choice(["field", "field", "field", "content", "bit", "swap", "cut", "repeat"]):
            case "field":
                start, end = chance.choice(list(FIELDS.values()))
                value = chance.choice(ODD)[: end - start].ljust(end - start, b"\0")
                data[block + start : block + end] = value
                data[block : block + BLOCK] = with_checksum(bytes(data[block : block + BLOCK]))
            case "content":
                at, value = block + chance.randrange(60), chance.choice(ODD)
                data[at : at + len(value)] = value
            case "bit":
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case "swap":
                other = BLOCK * chance.randrange(len(data) // BLOCK)
                data[block : block + BLOCK], data[other : other + BLOCK] = (
                    data[other : other + BLOCK],
                    data[block : block + BLOCK],
                )
            case "cut":
                del data[block : block + chance.choice([1, BLOCK])]
                data += bytes(-len(data) % BLOCK)
            case "repeat":
                data[block:block] = data[block : block + BLOCK]
    return bytes(data)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(8))
def test_every_mutated_archive_is_extracted_or_refused(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    (tmp_path / "mine").write_bytes(b"mine")
    extracted = 0
    for _ in range(250):
        data = mutated_archive(chance)
        with contextlib.suppress(UnsafeArchive):
            extract(tmp_path / "copy", data, size=chance.choice([100, 512, 100_000]))
            extracted += 1

        assert {path.name for path in tmp_path.iterdir()} <= {"copy", "mine"}
        assert (tmp_path / "mine").read_bytes() == b"mine"
        assert not [*tmp_path.rglob("*.part")]
        if (tmp_path / "copy").is_dir():
            shutil.rmtree(tmp_path / "copy")
        else:
            (tmp_path / "copy").unlink(missing_ok=True)
    assert 0 < extracted < 250


NAMES = (
    st.binary(min_size=1, max_size=255)
    | st.text(min_size=1, max_size=60).map(lambda text: text.encode(errors="ignore"))
    | st.sampled_from(["ü" * 125, "x" * 255, "日" * 85, "-x", " ", "\n"]).map(str.encode)
).filter(lambda name: name not in {b"", b".", b".."} and not {0, 47} & set(name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.lists(NAMES, min_size=1, max_size=4).map(tuple),
        st.binary(max_size=2000) | st.none(),  # None: a link
        max_size=5,
    )
)
def test_every_legal_name_survives_the_way_through_an_archive(
    tmp_path_factory: pytest.TempPathFactory, files: dict[tuple[bytes, ...], bytes | None]
) -> None:
    root = tmp_path_factory.mktemp("names")
    source = root / "site"
    source.mkdir()
    for names, content in files.items():
        path = source.joinpath(*map(os.fsdecode, names))
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.symlink_to(os.fsdecode(names[-1] * 4))
            else:
                path.write_bytes(content)

    extract(root / "copy", b"".join(ArchiveWriter(source, "site").chunks()))

    assert tree(root / "copy") == tree(source)


def test_a_tree_deeper_than_the_stack_is_sent(tmp_path: Path) -> None:
    folders = [tmp_path.joinpath(*["d"] * depth) for depth in range(1, 1201)]
    for folder in folders:
        folder.mkdir()
    try:
        chunks = b"".join(ArchiveWriter(tmp_path, "site").chunks())
    finally:
        for folder in reversed(folders):  # pytest could not
            folder.rmdir()

    with tarfile.open(fileobj=io.BytesIO(chunks)) as tar:
        assert len(tar.getnames()) == 1201


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

    with contextlib.suppress(UnsafeArchive):
        extract(root / "in" / "copy", archive(*members))

    assert {path.name for path in root.iterdir()} == {"in"}
    assert {path.name for path in (root / "in").iterdir()} <= {"copy"}
    real = (root / "in" / "copy").resolve()
    for path in (root / "in" / "copy").rglob("*"):
        if not path.is_symlink():
            assert real in path.resolve().parents
