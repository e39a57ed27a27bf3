"""The curves of `make bench-full`: that they are pictures, and that values lie where they belong."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from bench.plots import svg

CURVES = {"ours & theirs": [(2_000.0, 0.2), (20_000.0, 2.0)], "slow": [(2_000.0, 9.0)]}


def test_a_picture_is_well_formed_and_names_every_curve() -> None:
    picture = ET.fromstring(svg("Cold sync", CURVES, x="pods", y="s"))

    texts = [part.text for part in picture.iter() if part.text]
    assert {"Cold sync", "ours & theirs", "slow", "pods", "s"} <= set(texts)


def test_what_costs_more_is_drawn_higher_and_what_has_more_objects_further_right() -> None:
    circles = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg("", CURVES, x="", y=""))
    slow, small, large = ((float(x), float(y)) for x, y in circles)

    assert small[0] < large[0]
    assert small[0] == slow[0]
    assert small[1] > large[1] > slow[1]


def test_one_size_alone_can_be_drawn() -> None:
    ET.fromstring(svg("", {"one": [(1_000.0, 1.0)]}, x="", y=""))


def test_the_legend_names_the_dearest_first() -> None:
    picture = ET.fromstring(svg("", CURVES, x="", y=""))

    texts = [part.text for part in picture.iter() if part.text]
    assert texts.index("slow") < texts.index("ours & theirs")
