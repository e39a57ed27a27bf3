"""The plain block style of YAML, read without PyYAML."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.wire.yaml import load_documents
from kubeloop.wire.yaml_block import read_block_map

KUBECONFIG = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTi==
    # the address of the load balancer
    server: https://10.0.0.1:6443
  name: kind
contexts:
- context: {}
  name: "kind"
current-context: 'kind'
kind: Config
preferences: {}
users:
- name: kind
  user:
    exec:
      args:
      - --region
      - eu-1
      command: aws
      env:
      provideClusterInfo: false
"""

# Parts of lines, with some that are valid only in other styles, or not at all.
INDENTS = st.sampled_from(["", "", "  ", "  ", "    ", " ", "\t"])
DASHES = st.sampled_from(["", "", "", "- ", "- - ", "-", "-  "])
KEYS = st.sampled_from(["", "a: ", "b: ", "c:", "name: ", "a.b/c: ", "true: ", "<<: ", "? ", "1: "])
SCALARS = st.sampled_from(
    ["", "x", "1", "0x1F", "1.5", ".inf", "~", "yes", "null", "-", "--", "-x", "---", "...", "{}"]
) | st.sampled_from(
    ["[]", "[x]", "'x y'", '"x # y"', '"\\n"', "'it''s'", "a:b", "a: b", "x:", "x #y", "&a", "1e3"]
) | st.sampled_from(
    ["*a", "!!str 1", "|", ">-", "2001-01-01", "http://x:1/y", "a,b", "é", "@x", "%x", "x "]
)  # fmt: skip
LINES = st.builds(lambda *parts: "".join(parts), INDENTS, DASHES, KEYS, SCALARS)
TEXTS = st.lists(LINES | st.sampled_from(["", "# note", "---", "--- x"]), max_size=7)


def test_the_style_of_kubectl_is_read_without_pyyaml() -> None:
    assert [read_block_map(KUBECONFIG)] == load_documents(KUBECONFIG)
    assert read_block_map(KUBECONFIG.encode()) == read_block_map(KUBECONFIG)


@given(TEXTS.map("\n".join))
@example("a:\n- b: 1\n   c: 2")
@example("a:\n- b:\n- c")
@example("a:\n- b:\n  - c\n  d: x")
@example("a: x\n  y")
@example("a:\n  x")
@example("a: x\na: y")
def test_a_result_is_that_of_the_complete_reader(text: str) -> None:
    found = read_block_map(text)

    if found is not None:
        assert repr([found]) == repr(load_documents(text))


@given(
    st.integers(0, len(KUBECONFIG)),
    st.integers(0, 3),
    st.text(alphabet="a1 \n\t-:#'\"{}[]&*!|>%@,?.~é", max_size=3),
)
def test_a_changed_kubeconfig_is_read_as_by_the_complete_reader(
    at: int, removed: int, inserted: str
) -> None:
    text = KUBECONFIG[:at] + inserted + KUBECONFIG[at + removed :]

    found = read_block_map(text)

    if found is not None:
        assert repr([found]) == repr(load_documents(text))


@pytest.mark.parametrize(
    "text",
    ["", "- a", "a: |\n  b", "a: &b c", "a: [b]", "a: é", "a: b # c", "a: 1\na: 2", "a: .nan"],
)
def test_other_styles_are_not_read(text: str) -> None:
    assert read_block_map(text) is None


def test_deep_nesting_is_not_read() -> None:
    text = "\n".join(f"{'  ' * depth}a:" for depth in range(100))

    assert read_block_map(text) is None


@pytest.mark.timeout(60)
def test_a_kubeconfig_in_the_style_of_kubectl_loads_no_pyyaml() -> None:
    program = (
        "import sys; from kubeloop.config import parse_kubeconfig\n"
        "parse_kubeconfig(sys.stdin.read())\n"
        "print('yaml' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        input=KUBECONFIG,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "False\n"
