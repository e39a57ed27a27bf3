"""Quantities: what holds for every one of them."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire.errors import InvalidArgument
from kubeloop.wire.quantity import Quantity, QuantityFormat

FACTORS = {
    "": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18), "e3": Fraction(1000), "E-2": Fraction(1, 100),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
    "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip

signs = st.sampled_from(["", "+", "-"])
digits = st.text("0123456789", min_size=1, max_size=20)
suffixes = st.sampled_from(sorted(FACTORS))
texts = st.builds(
    lambda sign, whole, fraction, suffix: f"{sign}{whole}{fraction}{suffix}",
    signs,
    digits,
    st.one_of(st.just(""), st.just("."), digits.map(".{}".format)),
    suffixes,
)
quantities = texts.map(Quantity)


def worth(quantity: Quantity) -> Fraction:
    return Fraction(quantity.as_decimal())


@given(texts)
def test_the_number_is_the_exact_one_up_to_the_next_nano(text: str) -> None:
    """API-15, API-17: syntax and precision of quantities."""
    suffix = next(s for s in sorted(FACTORS, key=len, reverse=True) if text.endswith(s))
    exact = Fraction(text.removesuffix(suffix)) * FACTORS[suffix]
    if suffix.endswith("i"):
        exact = max(min(exact, Fraction(2**63 - 1)), Fraction(1 - 2**63))
    found = worth(Quantity(text))

    assert abs(exact) <= abs(found) < abs(exact) + Fraction(1, 10**9)
    assert found * exact >= 0


@given(quantities)
def test_every_text_of_a_quantity_reads_as_the_same_number(quantity: Quantity) -> None:
    assert Quantity(str(quantity)) == quantity
    assert Quantity(quantity.canonical()) == quantity
    assert Quantity(quantity.canonical()).canonical() == quantity.canonical()


@given(quantities, st.sampled_from(QuantityFormat))
def test_changing_the_format_keeps_the_number(quantity: Quantity, format_: QuantityFormat) -> None:
    assert quantity.in_format(format_) == quantity
    assert Quantity(quantity.in_format(format_).text) == quantity


@given(quantities)
def test_the_canonical_text_has_no_fraction_and_no_plus(quantity: Quantity) -> None:
    """API-19: canonical text of quantities."""
    assert not set(quantity.canonical()) & set(".+")


@given(quantities, quantities, st.integers(-1000, 1000))
def test_arithmetic_is_exact(left: Quantity, right: Quantity, factor: int) -> None:
    assert worth(left + right) == worth(left) + worth(right)
    assert worth(left - right) == worth(left) - worth(right)
    assert worth(left * factor) == worth(left) * factor
    assert worth(-left) == -worth(left)


@given(quantities, st.integers(-1000, 1000).filter(bool))
def test_the_parts_of_a_quantity_always_suffice(quantity: Quantity, divisor: int) -> None:
    rest = abs(worth(quantity / divisor)) - abs(worth(quantity) / divisor)

    assert 0 <= rest < Fraction(1, 10**9)


@given(quantities, quantities)
def test_the_order_is_that_of_the_numbers(left: Quantity, right: Quantity) -> None:
    assert (left < right) == (worth(left) < worth(right))
    assert (left <= right) == (worth(left) <= worth(right))
    assert (left == right) == (worth(left) == worth(right))
    assert left != right or hash(left) == hash(right)


@given(st.text(max_size=30))
def test_any_text_is_a_quantity_or_an_invalid_value(text: str) -> None:
    try:
        quantity = Quantity(text)
    except InvalidArgument:
        return
    assert Quantity(str(quantity)) == quantity


@given(st.lists(quantities, min_size=1, max_size=5))
def test_a_sum_is_exact_in_any_order(
    summands: list[Quantity],
) -> None:
    total = sum(summands)

    assert isinstance(total, Quantity)
    assert worth(total) == sum(map(worth, summands))
    assert total == sum(reversed(summands))


@given(quantities)
def test_an_int_is_never_nearer_to_zero_than_the_quantity(quantity: Quantity) -> None:
    number = int(quantity)

    assert 0 <= abs(number) - abs(worth(quantity)) < 1
    assert number * worth(quantity) >= 0
