"""Equal blocks in a row share what is decided for the first."""

from tvm_pulp.planning.search.solver.repeats import find_repeats


def test_blocks_between_other_layers() -> None:
    assert find_repeats("x" + "abc" * 4 + "yz") == {4 + i: 1 + i % 3 for i in range(9)}


def test_the_longest_run_counts() -> None:
    found = find_repeats("aaaa" + "uvwuvwuvwuvwuvw")
    assert found == {7 + i: 4 + i % 3 for i in range(12)}


def test_few_layers_are_not_worth_it() -> None:
    assert find_repeats("abab") == {}
    assert find_repeats("") == {}
    assert find_repeats("abcdefghijklmnop") == {}
