"""Figures of reports as texts, sums and shares."""

from tvm_pulp.report.figures import figure, shares, summed


def test_texts_of_figures() -> None:
    assert [figure(v) for v in (None, 1234567, 1.5, "cores")] == ["-", "1,234,567", "1.50", "cores"]


def test_sums_keep_the_order_of_names() -> None:
    assert list(summed([("b", 1), ("a", 2), ("b", 3)]).items()) == [("b", 4), ("a", 2)]


def test_shares_leave_nothing_out_and_name_no_empty_part() -> None:
    assert shares({"a": 1, "b": 3, "c": 0}) == {"b": 0.75, "a": 0.25}
    assert list(shares({"a": 1, "b": 3})) == ["b", "a"]
    assert shares({"a": 0}) == {}
