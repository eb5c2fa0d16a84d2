"""The constraint solver's models: small problems with known answers, and an import without pandas."""

import subprocess
import sys

from tvm_pulp.planning.search.constraint_model import ConstraintModel


def _knapsack() -> tuple[ConstraintModel, list]:
    model = ConstraintModel()
    taken = [model.boolean(f"take_{n}") for n in range(4)]
    model.add(sum(weight * x for weight, x in zip((5, 4, 3, 2), taken, strict=True)) <= 7)
    model.minimize(100 - sum(worth * x for worth, x in zip((10, 7, 6, 3), taken, strict=True)))
    return model, taken


def test_the_best_solution_is_found_and_proven():
    model, taken = _knapsack()
    outcome = model.solve(random_seed=1)
    assert outcome.optimal and outcome.found
    assert [outcome.value(x) for x in taken] in ([1, 0, 0, 1], [0, 1, 1, 0])
    assert outcome.objective == outcome.bound == 87


def test_a_hint_that_is_fixed_decides():
    model, taken = _knapsack()
    for variable, value in zip(taken, (0, 0, 1, 1), strict=True):
        model.hint(variable, value)
    fixed = model.solve(fix_variables_to_their_hinted_value=True)
    assert fixed.objective == 91
    model.hint_solution(fixed)
    assert model.solve(fix_variables_to_their_hinted_value=True).objective == 91
    assert model.solve().objective == 87


def test_logic_between_literals():
    model = ConstraintModel()
    a, b, c = (model.boolean(name) for name in "abc")
    largest, smallest = model.integer(0, 1, "largest"), model.integer(0, 1, "smallest")
    model.add_exactly_one([a, b])
    model.add_implication(a, c.negated())
    model.add_largest(largest, [a, c])
    model.add_smallest(smallest, [a, c])
    model.add(a == 1).only_enforce_if(c.negated())
    model.minimize(largest + 5 * a)
    outcome = model.solve()
    assert [outcome.value(x) for x in (a, b, c, largest, smallest)] == [0, 1, 1, 1, 0]


def test_nothing_is_found_where_nothing_can_be():
    model = ConstraintModel()
    model.add(model.integer(0, 3, "x") >= 4)
    assert not model.solve().found


def test_a_compiler_does_not_wait_for_pandas():
    names = "import sys, tvm_pulp.api, tvm_pulp.planning.search.driver; print('pandas' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
