"""Values by their keys."""

from tvm_pulp.grouped import grouped


def test_keys_and_values_stand_in_the_order_in_which_they_come() -> None:
    found = grouped([("b", 2), ("a", 1), ("b", 1)])
    assert list(found.items()) == [("b", [2, 1]), ("a", [1])]
    assert grouped([]) == {}
