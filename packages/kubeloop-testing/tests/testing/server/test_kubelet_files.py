"""Files of a container: paths, links, and the commands of `kubectl cp`."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing import File, FileTree, Folder, Link, Process
from kubeloop_testing.server.kubelet.files import FILE_COMMANDS
from tests.support.tar_headers import raw_header


class Run:
    """One run of a command: its output."""

    def __init__(self) -> None:
        self.stdout = b""
        self.stderr = b""
        self.code: int | None = None

    async def write_stdout(self, data: bytes) -> None:
        self.stdout += data

    async def write_stderr(self, data: bytes) -> None:
        self.stderr += data


async def run(tree: FileTree, *command: str, stdin: bytes = b"", ends: bool = True) -> Run:
    """Run a command with an input, which `ends` or not."""
    ended = Run()
    process = Process(
        command,
        namespace="default",
        pod="web",
        container="main",
        stdout=ended.write_stdout,
        stderr=ended.write_stderr,
    )
    await process.feed(stdin)
    if ends:
        process.feed_eof()
    ended.code = await FILE_COMMANDS[command[0]](tree)(process)
    return ended


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return file.getvalue()


@pytest.fixture
def tree() -> FileTree:
    return FileTree(
        {
            "/etc/motd": "hi",
            "/data/run": File(content=b"#!", mode=0o755, mtime=100.0),
            "/data/empty": Folder(mode=0o700),
            "/data/link": Link("run"),
            "/latest": Link("/data"),
        }
    )


# --- the tree


def test_a_path_leads_through_links_to_its_content(tree: FileTree) -> None:
    assert tree["/etc/../etc/motd"] == tree["etc/motd"] == b"hi"
    assert tree["/latest/link"] == b"#!"
    assert tree.find("/latest", follow=False) == Link("/data")
    assert "/data" in tree
    assert "/nothing" not in tree
    with pytest.raises(KeyError):
        tree["/data"]


def test_a_circle_of_links_leads_nowhere() -> None:
    tree = FileTree({"/a": Link("/b"), "/b": Link("/a")})

    assert "/a" not in tree


def test_a_removed_folder_takes_its_files_along(tree: FileTree) -> None:
    before = len(tree)

    del tree["/data"]

    assert len(tree) == before - 4
    assert "/data/run" not in tree


# --- tar


async def test_an_archive_has_modes_times_folders_and_links(tree: FileTree) -> None:
    ended = await run(tree, "tar", "cf", "-", "/data")

    with tarfile.open(fileobj=io.BytesIO(ended.stdout)) as tar:
        found = {each.name: each for each in tar}
        content = tar.extractfile("data/run")
        assert content is not None
        assert content.read() == b"#!"
    assert list(found) == ["data", "data/empty", "data/link", "data/run"]
    assert (found["data/run"].mode, found["data/run"].mtime) == (0o755, 100)
    assert found["data/empty"].isdir()
    assert (found["data/link"].issym(), found["data/link"].linkname) == (True, "run")
    assert (ended.code, ended.stderr) == (0, b"tar: Removing leading `/' from member names\n")


async def test_an_archive_can_begin_in_a_folder_and_follow_links(tree: FileTree) -> None:
    ended = await run(tree, "tar", "-C", "/data", "-chf", "-", "link")

    with tarfile.open(fileobj=io.BytesIO(ended.stdout)) as tar:
        (member,) = tar
        assert (member.name, member.isfile()) == ("link", True)


async def test_a_path_that_does_not_exist_is_reported_and_the_others_are_sent(
    tree: FileTree,
) -> None:
    ended = await run(tree, "tar", "cf", "-", "nothing", "etc")

    assert ended.code == 2
    assert b"tar: nothing: Cannot stat: No such file or directory" in ended.stderr
    with tarfile.open(fileobj=io.BytesIO(ended.stdout)) as tar:
        assert tar.getnames() == ["etc", "etc/motd"]


@given(
    st.dictionaries(
        st.text("abc/", min_size=1, max_size=6).filter(lambda each: each.strip("/")),
        st.binary(max_size=1200),
        max_size=4,
    )
)
async def test_what_tar_packs_it_unpacks(files: dict[str, bytes]) -> None:
    source, target = FileTree(), FileTree()
    for path, content in files.items():
        parents = f"/top/{path}".split("/")
        if any(
            isinstance(source.find("/".join(parents[:end])), File) for end in range(len(parents))
        ) or isinstance(source.find(f"/top/{path}"), Folder):
            continue
        source[f"/top/{path}"] = content

    packed = await run(source, "tar", "cf", "-", "top")
    if "/top" not in source:
        return
    unpacked = await run(target, "tar", "xf", "-", stdin=packed.stdout)

    assert unpacked.code == 0
    assert [(path, target.find(path)) for path in target] == [
        (path, source.find(path)) for path in source
    ]


async def test_an_archive_is_unpacked_into_a_folder_before_the_input_ends(tree: FileTree) -> None:
    member = tarfile.TarInfo("new/file")
    member.mode = 0o666
    plain = archive((member, b"content"))

    command = ["tar", "--no-same-permissions", "-xmf", "-", "-C", "/etc"]
    ended = await run(tree, *command, stdin=plain, ends=False)

    assert (ended.code, ended.stderr) == (0, b"")
    node = tree.find("/etc/new/file")
    assert isinstance(node, File)
    assert (node.content, node.mode) == (b"content", 0o644)


@pytest.mark.parametrize("name", ["../outside", "a/../../outside"])
async def test_a_member_outside_the_folder_is_skipped(tree: FileTree, name: str) -> None:
    data = archive((tarfile.TarInfo(name), b"x"), (tarfile.TarInfo("inside"), b"y"))

    ended = await run(tree, "tar", "xf", "-", "-C", "/data", stdin=data)

    assert (ended.code, tree["/data/inside"]) == (2, b"y")
    assert b"Member name contains '..'; skipping" in ended.stderr
    assert "/outside" not in tree


@pytest.mark.parametrize(
    ("command", "stdin", "message"),
    [
        (["tar", "xf", "-"], b"x" * 1024, b"does not look like a tar archive"),
        (["tar", "xf", "-"], b"", b"does not look like a tar archive"),
        (["tar", "xf", "-"], raw_header(size=b"-1"), b"does not look like a tar archive"),
        (["tar", "xf", "-"], raw_header(size=b"7"), b"does not look like a tar archive"),
        (["tar", "xf", "-", "-C", "/nothing"], b"", b"/nothing: Cannot open"),
        (["tar", "xf", "archive.tar"], b"", b"only the archive '-'"),
        (["tar", "tf", "-"], b"", b"invalid option -- 't'"),
        (["tar", "cf", "-"], b"", b"empty archive"),
        (["tar", "--zip", "-cf", "-"], b"", b"unrecognized option '--zip'"),
        (["tar"], b"", b"You must specify"),
        (["test", "1", "=", "1"], b"", b"unknown expression"),
    ],
)
async def test_what_a_command_cannot_do_is_an_error(
    tree: FileTree, command: list[str], stdin: bytes, message: bytes
) -> None:
    ended = await run(tree, *command, stdin=stdin)

    assert ended.code == 2
    assert message in ended.stderr


# --- test and cat


@pytest.mark.parametrize(
    ("option", "path", "code"),
    [
        ("-d", "/data", 0),
        ("-d", "/latest", 0),
        ("-d", "/etc/motd", 1),
        ("-f", "/etc/motd", 0),
        ("-e", "/nothing", 1),
        ("-L", "/latest", 0),
    ],
)
async def test_test_finds_out_what_a_path_is(
    tree: FileTree, option: str, path: str, code: int
) -> None:
    assert (await run(tree, "test", option, path)).code == code


async def test_cat_prints_files_and_its_input(tree: FileTree) -> None:
    ended = await run(tree, "cat", "/etc/motd", "-", "/nothing", "/data", stdin=b" there")

    assert (ended.code, ended.stdout) == (1, b"hi there")
    assert ended.stderr.splitlines() == [
        b"cat: /nothing: No such file or directory",
        b"cat: /data: Is a directory",
    ]
