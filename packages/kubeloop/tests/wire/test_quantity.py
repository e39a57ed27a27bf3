"""Quantities: syntax, numbers, canonical text."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import msgspec
import pytest

from kubeloop.wire.errors import InvalidArgument
from kubeloop.wire.quantity import Quantity, QuantityFormat, decode_quantity

DECIMAL_SI = QuantityFormat.DECIMAL_SI
BINARY_SI = QuantityFormat.BINARY_SI
DECIMAL_EXPONENT = QuantityFormat.DECIMAL_EXPONENT


def worth(quantity: Quantity) -> Fraction:
    return Fraction(quantity.as_decimal())


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("100.035k", "100.035k"),
        ("+1", "+1"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("0.05Gi", "53687091200m"),
        (".001Ki", "1024m"),
        ("9Ei", "9223372036854775807"),
        ("12E", "12E"),
        ("3.001n", "4n"),
    ],
    ids="V-2 {}".format,
)
def test_str_is_the_text_client_go_shows_after_parsing(given_text: str, shown: str) -> None:
    """V-2, API-C5, API-17, API-19, API-20: quantities as client-go prints them."""
    assert str(Quantity(given_text)) == shown


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("1000M", "1G"),
        ("1e3", "1e3"),
        ("1000e0", "1e3"),
        ("1E3", "1E3"),
        ("0Ki", "0"),
        ("-0", "0"),
        ("+0.000", "0"),
        ("001", "001"),
        ("+1Ki", "+1Ki"),
        ("+1Pi", "1Pi"),
        ("8Ki", "8Ki"),
        ("8192Ki", "8Mi"),
        ("123456789012Ki", "123456789012Ki"),
        ("-9Ei", "-9223372036854775807"),
        ("-0.5Ki", "-512"),
        ("0.1e1", "1"),
        ("1e-10", "1e-9"),
        ("1e1000", "10e999"),
        ("4e2147", "400e2145"),
        ("1e3000", None),
    ],
)
def test_more_texts_as_client_go_shows_them(given_text: str, shown: str | None) -> None:
    """API-C5, API-19, API-20; the exponent is bounded, so that no text is a bomb"""
    if shown is None:
        with pytest.raises(InvalidArgument):
            Quantity(given_text)
    else:
        assert str(Quantity(given_text)) == shown


@pytest.mark.parametrize("text", [".5", "5.", "+5", "-3.01", "1E", "1e-3", "1.k", "0", "2Ei"])
def test_what_is_a_quantity(text: str) -> None:
    """API-15: syntax of quantities."""
    assert Quantity(text).text == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "+", ".", "k", "1K", "1i", "0.1mi", "1.1.M", "1 k", " 1", "1\n", "1e", "1e-", "--1",
     "1+1.0M", "0.1am", "aoeu", "1Ee3", "0x10", "1_000", "\u0661", "\u00b2", "NaN", "inf", "1ki",
     "1e99999999999", "9" * 5000],
)  # fmt: skip
def test_what_is_no_quantity(text: str) -> None:
    """API-15, API-16, V-2: `1K` is an error, there is no K"""
    with pytest.raises(InvalidArgument, match="quantity"):
        Quantity(text)


def test_the_error_names_what_was_given_and_what_to_write() -> None:
    with pytest.raises(InvalidArgument, match=r"quantity '1K': not a number .*500m"):
        Quantity("1K")


@pytest.mark.parametrize(
    ("text", "number"),
    [("1E", 10**18), ("1E3", 1000), ("1e3", 1000), ("1000m", 1), ("1M", 10**6), ("1Mi", 2**20)],
)
def test_capitals_matter(text: str, number: int) -> None:
    """API-16: E alone is exa, E3 an exponent; m is milli, M mega"""
    assert Quantity(text).as_int() == number


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("1", DECIMAL_SI),
        ("1k", DECIMAL_SI),
        ("1Ki", BINARY_SI),
        ("1e3", DECIMAL_EXPONENT),
        ("0.5Ki", BINARY_SI),
        ("0.0001Ki", DECIMAL_SI),
        ("-0.0001Ki", DECIMAL_SI),
        ("0Ki", BINARY_SI),
    ],
)
def test_the_suffix_decides_the_format(text: str, format_: QuantityFormat) -> None:
    """API-18: formats of quantities."""
    assert Quantity(text).format is format_


@pytest.mark.parametrize(
    ("number", "text"),
    [(5, "5"), (-7, "-7"), (Decimal("1.50"), "1.50"), (0.1, "0.1"), (1e21, "1e+21"), (2.0, "2.0")],
)
def test_numbers_are_taken_as_they_are_written(number: float | Decimal, text: str) -> None:
    quantity = Quantity(number)

    assert quantity.text == text
    assert worth(quantity) == Fraction(str(number))


@pytest.mark.parametrize(
    "value", [True, None, b"1", float("nan"), float("inf"), Decimal("NaN"), []]
)
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument, match="quantity"):
        Quantity(value)  # type: ignore[arg-type] # that is what is tested


def test_a_quantity_keeps_the_text_it_was_given() -> None:
    quantity = Quantity("1024Mi")

    assert (quantity.text, str(quantity), repr(quantity)) == ("1024Mi", "1Gi", "Quantity('1024Mi')")


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("1.5", 2, 1500),
        ("-1.5", -2, -1500),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("100m", 1, 100),
        ("2Ki", 2048, 2048000),
        ("0", 0, 0),
        ("100E", 10**20, 10**23),
    ],
)
def test_values_are_rounded_away_from_zero(text: str, value: int, milli: int) -> None:
    """API-21: numbers of quantities."""
    assert (Quantity(text).value(), Quantity(text).milli_value()) == (value, milli)


def test_scaled_counts_in_powers_of_ten() -> None:
    """API-21: numbers of quantities."""
    assert Quantity("1234567").scaled(3) == 1235
    assert Quantity("1").scaled(-12) == 10**12


@pytest.mark.parametrize("text", ["1m", "0.5", "1E1", "10E", "-10E"])
def test_as_int_takes_only_integers_of_64_bits(text: str) -> None:
    """API-21: numbers of quantities."""
    if text == "1E1":
        assert Quantity(text).as_int() == 10
    else:
        with pytest.raises(InvalidArgument, match=text):
            Quantity(text).as_int()


@pytest.mark.parametrize("text", ["9223372036854775807", "-9223372036854775808", "8Pi"])
def test_as_int_reaches_to_the_ends_of_64_bits(text: str) -> None:
    assert Quantity(text).as_int() == worth(Quantity(text))


def test_binary_amounts_saturate_and_decimal_ones_do_not() -> None:
    """API-17: precision of quantities."""
    assert Quantity("8Ei").value() == 2**63 - 1
    assert Quantity("100Ei") == Quantity("9Ei")
    assert Quantity("100E").value() == 10**20


def test_what_is_finer_than_a_nano_is_rounded_away_from_zero() -> None:
    """API-17: precision of quantities."""
    assert Quantity("0.0000000001") == Quantity("1n")
    assert Quantity("-0.1n") == Quantity("-1n")
    assert Quantity("0.0n").is_zero


def test_comparison_ignores_the_format() -> None:
    """API-21, API-C5: quantities are compared as numbers."""
    assert Quantity("1Ki") == Quantity("1024") == Quantity("1.024k") == Quantity("1024e0")
    assert len({Quantity("1Ki"), Quantity("1024")}) == 1
    assert Quantity("1k") < Quantity("1Ki") <= Quantity("1.024k")
    assert Quantity("1Ki") > Quantity("1k") >= Quantity("1e3")


def test_a_quantity_is_not_equal_to_a_number_or_a_text() -> None:
    assert Quantity("1") != 1
    assert Quantity("1") != "1"
    with pytest.raises(TypeError):
        sorted([Quantity("1"), 1])  # type: ignore[type-var] # that is what is tested


def test_sums_are_written_canonically() -> None:
    """API-C5: quantities as client-go prints them."""
    assert str(Quantity("100m") + Quantity("900m")) == "1"
    assert str(Quantity("1Gi") - Quantity("512Mi")) == "512Mi"
    assert str(Quantity("1Gi") + Quantity("1M")) == "1074741824"


def test_a_sum_that_starts_at_zero_adopts_the_format() -> None:
    """API-21: numbers of quantities."""
    assert (Quantity("0") + Quantity("1Mi")).text == "1Mi"
    assert (Quantity("0") - Quantity("1Mi")).text == "-1Mi"
    assert (Quantity("1Mi") - Quantity("1Mi") + Quantity("2M")).text == "2M"
    assert (Quantity("1Mi") + Quantity("0")).format is BINARY_SI


def test_multiples_and_parts() -> None:
    assert (Quantity("500m") * 3).text == "1500m"
    assert (2 * Quantity("512Mi")).text == "1Gi"
    assert (Quantity("1") / 3).text == "333333334n"
    assert (Quantity("-1") / 3).text == "-333333334n"
    assert (Quantity("1Gi") / -2).text == "-512Mi"
    assert ((-Quantity("1")).text, abs(Quantity("-2")).text) == ("-1", "2")
    with pytest.raises(ZeroDivisionError):
        Quantity("1") / 0


def test_a_product_too_large_to_be_written_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="too large"):
        Quantity("1") * 10**5000


@pytest.mark.parametrize(
    ("number", "scale", "format_", "text"),
    [
        (1024**3, 0, BINARY_SI, "1Gi"),
        (512, 0, BINARY_SI, "512"),
        (500, -3, DECIMAL_SI, "500m"),
        (12, 6, DECIMAL_EXPONENT, "12e6"),
        (1000, 18, DECIMAL_SI, "1000E"),
        (Decimal("1.5"), 0, DECIMAL_SI, "1500m"),
        (Decimal("-1E+3"), 0, DECIMAL_SI, "-1k"),
        (1, -12, DECIMAL_SI, "1n"),
        (8 * 1024**6, 0, BINARY_SI, "9223372036854775808"),
    ],
)
def test_a_number_may_choose_its_format(
    number: int | Decimal, scale: int, format_: QuantityFormat, text: str
) -> None:
    """API-18, API-19: formats and canonical text of quantities."""
    assert Quantity.of(number, scale=scale, format=format_).text == text


@pytest.mark.parametrize(
    "number", [True, 1.5, Decimal("inf"), pytest.param(10**5000, id="huge"), Decimal("1e5000"), "1"]
)
def test_of_takes_exact_numbers_of_a_sane_size(number: object) -> None:
    with pytest.raises(InvalidArgument):
        Quantity.of(number)  # type: ignore[arg-type] # that is what is tested


def test_a_number_can_change_its_format() -> None:
    assert Quantity("1073741824").in_format(BINARY_SI).text == "1Gi"


def test_as_decimal_does_not_depend_on_the_context() -> None:
    with localcontext(prec=2):
        assert str(Quantity("123456.789m").as_decimal()) == "123.456789"
        assert str(Quantity("123456k").as_decimal()) == "123456000"


def test_floats_end_in_infinity() -> None:
    assert float(Quantity("1.5")) == 1.5
    assert float(Quantity("1e999")) == float("inf")
    assert float(Quantity("-1e999")) == float("-inf")


def test_copies_and_pickles_keep_text_number_and_format() -> None:
    computed = Quantity("1Ki") - Quantity("512")

    for quantity in (Quantity("1024Mi"), computed):
        for same in (copy.copy(quantity), copy.deepcopy(quantity), Quantity(quantity),
                     pickle.loads(pickle.dumps(quantity))):  # fmt: skip
            assert (same, same.text, same.format) == (quantity, quantity.text, quantity.format)


def test_a_quantity_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Quantity("1").text = "2"  # type: ignore[misc] # that is what is tested


@pytest.mark.parametrize(
    ("json", "text"), [(b'"1Gi"', "1Gi"), (b"1.5", "1.5"), (b"3", "3"), (b"null", "0"), (b'" 1 "', "1")]
)  # fmt: skip
def test_a_decoder_may_find_a_string_a_number_or_null(json: bytes, text: str) -> None:
    """API-21: numbers of quantities."""
    decoded = msgspec.json.decode(
        json, type=Quantity, dec_hook=lambda _, value: decode_quantity(value)
    )

    assert decoded.text == text


def test_equal_texts_are_decoded_into_one_object() -> None:
    assert decode_quantity("77Mi") is decode_quantity("77Mi")


@pytest.mark.parametrize("value", [True, [], {}, "x", "\n1"])
def test_a_decoder_refuses_everything_else(value: object) -> None:
    with pytest.raises(InvalidArgument):
        decode_quantity(value)


def test_quantities_can_be_summed() -> None:
    assert sum([Quantity("1Gi"), Quantity("500Mi")]) == Quantity("1524Mi")
    assert sum([Quantity("1Gi"), Quantity("500Mi")], Quantity("0")).text == "1524Mi"
    assert sum([Quantity("250m")] * 3) == Quantity("750m")
    assert sum([], Quantity("0")) == Quantity("0")


@pytest.mark.parametrize("number", [1, True, False, 0.5, None, "0"])
def test_no_number_but_the_zero_of_a_sum_is_added(number: object) -> None:
    with pytest.raises(TypeError):
        number + Quantity("1")  # type: ignore[operator] # what is tested
    with pytest.raises(TypeError):
        Quantity("1") + number  # type: ignore[operator] # what is tested


@pytest.mark.parametrize(
    ("text", "number"),
    [("1Ki", 1024), ("1500m", 2), ("-1500m", -2), ("1n", 1), ("0", 0), ("12e6", 12_000_000)],
)
def test_an_int_is_rounded_away_from_zero_as_client_go_rounds(text: str, number: int) -> None:
    assert int(Quantity(text)) == Quantity(text).value() == number
    assert f"{int(Quantity(text)):,}" == f"{number:,}"
