"""`kv_cache`: before, new rows are an output of their own; after, they lie behind the past in one buffer."""

import re
from dataclasses import replace

import pytest

from tests.planning.tir.small_plans import plan_of, statements
from tvm_pulp.planning.tir.kv_cache import kv_cache
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.planning.tir.placed_main import placed_main
from tvm_pulp.planning.tir.read_function import read_function
from tvm_pulp.planning.tir.statements import Main, MoveBytes
from tvm_pulp.planning.tir.synchronise import synchronise
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Layer, Origin, State, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec


def appended(rows: int = 2, *, state: bool = True, level: str = "l2") -> Tables:
    """A layer reads a past of two rows of 64 bytes and makes `rows` new ones, a tile each."""
    past, new = (Tensor(n, TensorSpec((rows, 64), "int8"), k) for n, k in (("past", "input"), ("present", "output")))
    past.level = level
    plan = plan_of([Layer("layer", "transpose", {"axes": [0, 1]}, [past], [new])], (1, 64), overlap=False)
    if state:
        plan.network.origin = Origin(
            None, ("past",), ("present",), None, states=(State(0, 0, rows, rows, 128 * rows, level=level),)
        )
    return Tables(plan)


def moves(main: Main) -> list[str]:
    return [line for line in statements(main) if line.startswith(("dma_load(", "dma_store("))]


def test_new_rows_follow_the_past() -> None:
    tables = appended()
    before = placed_main(tables)
    assert moves(before) == [
        "dma_load(-1, 1, L1(224), AT(past, 0), 64)",
        "dma_store(3, 2, AT(present, 0), L1(288), 64)",
        "dma_load(4, 3, L1(224), AT(past, 64), 64)",
        "dma_store(6, 4, AT(present, 64), L1(288), 64)",
    ]
    after = kv_cache(before, tables)
    assert moves(after) == [
        "dma_load(-1, 1, L1(224), AT(past, 0), 64)",
        "dma_store(3, 2, AT(past, 128), L1(288), 64)",
        "dma_load(4, 3, L1(224), AT(past, 64), 64)",
        "dma_store(6, 4, AT(past, 192), L1(288), 64)",
    ]
    # Statements that move nothing are those of before.
    kept = [line for line in statements(before) if line not in moves(before)]
    assert [line for line in statements(after) if line not in moves(after)] == kept


def test_nothing_of_the_past_is_written() -> None:
    tables = appended(rows=3)
    bound = kv_cache(placed_main(tables), tables)
    stores = [line for line in statements(synchronise(bound, tables)) if line.startswith("dma_store(")]
    assert [line.split("AT(past, ")[1].split(")")[0] for line in stores] == ["192", "256", "320"]


def test_a_network_without_state_stays_as_it_is() -> None:
    tables = appended(state=False)
    before = placed_main(tables)
    assert kv_cache(before, tables) is before


def test_an_empty_past_has_no_pointer_to_bind_to() -> None:
    tables = appended()
    # What is read is another input: the cache before the first token.
    network = tables.plan.network
    empty = Tensor("empty", TensorSpec((0, 64), "int8"), "input")
    states = (State(1, 0, 0, 2, 128),)
    assert network.origin is not None
    network.inputs, network.origin = [*network.inputs, empty], replace(network.origin, states=states)
    before = placed_main(tables)
    assert kv_cache(before, tables) is before


def test_rows_in_l3_are_fetched_and_new_ones_are_left_to_the_caller() -> None:
    tables = appended(level="l3")
    before = placed_main(tables)
    fetch = "l3_load(-1, L2(0), 0, 128)"
    assert [line for line in statements(before) if line.startswith("l3_")] == [fetch]
    after = kv_cache(before, tables)
    assert [line for line in statements(after) if line.startswith("l3_")] == [
        "l3_load_rows(-1, L2(0), past, 128, , 64)"
    ]
    assert moves(after) == moves(before)


def test_a_counter_tells_how_many_rows_come_from_l3() -> None:
    tables = appended(level="l3")
    network = tables.plan.network
    network.inputs = [*network.inputs, Tensor("length", TensorSpec((1,), "int32"), "input")]
    assert network.origin is not None
    network.origin = replace(network.origin, states=(State(0, 0, None, 2, 256, counter=1, level="l3"),))
    after = kv_cache(placed_main(tables), tables)
    assert "l3_load_rows(-1, L2(0), past, 128, length, 64)" in statements(after)


def test_it_is_part_of_every_compilation() -> None:
    names = [stage.name for stage in lower(appended().plan).stages]
    assert names.index("place") < names.index("kv_cache") < names.index("synchronise")


def counted_rows(operator: str, *, level: str = "l2", counted: bool = True) -> Tables:
    """A layer looks at the first rows of a cache of sixteen rows of 32 bytes, an input counts them."""
    specs = {"q": ((1, 32), "int8"), "past": ((16, 32), "int8"), "length": ((1,), "int32")}
    q, past, length = (Tensor(n, TensorSpec(*spec), "input") for n, spec in specs.items())
    past.level = level
    if operator == "past_scores":
        attributes = {"heads": 1, "kv_heads": 1, "mul": 1, "shift": 1}
        y = Tensor("y", TensorSpec((1, 17), "int32"), "output")
        layer, box = Layer("layer", operator, attributes, [q, past, length], [y]), (1, 17)
    else:
        y = Tensor("y", TensorSpec((16, 32), "int8"), "output")
        layer, box = Layer("layer", operator, {"axes": [0, 1]}, [past], [y]), (16, 32)
    plan = plan_of([layer], box, overlap=False)
    plan.network.inputs = [q, past, length]
    state = State(1, 0, None, 1, 512, 2 if counted else None, level=level)
    plan.network.origin = Origin(None, ("q", "past", "length"), ("y",), None, states=(state,))
    return Tables(plan)


@pytest.mark.parametrize(
    ("operator", "level", "counted", "expected"),
    [
        ("past_scores", "l2", True, "dma_load_rows(-1, {}, L1({}), AT(past, 0), 512, length, 32)"),
        ("past_scores", "l2", False, "dma_load(-1, {}, L1({}), AT(past, 0), 512)"),
        # It looks at all of them.
        ("transpose", "l2", True, "dma_load(-1, {}, L1({}), AT(past, 0), 512)"),
    ],
)
def test_layers_that_are_told_how_many_rows_there_are_get_so_many(
    operator: str, level: str, counted: bool, expected: str
) -> None:
    tables = counted_rows(operator, level=level, counted=counted)
    main = kv_cache(placed_main(tables), tables)
    (found,) = [line for line in statements(main) if "AT(past" in line]
    assert re.sub(r"\(-1, \d+, L1\(\d+", "(-1, {}, L1({}", found) == expected
    # What is read from TIR is what was printed.
    (again,) = [line for line in statements(read_function(main.function, tables, False)) if "AT(past" in line]
    assert again == found
    moved = [s for s in main.statements if isinstance(s, MoveBytes) and s.external and s.external.name == "past"]
    assert [s.expected_bytes for s in moved] == ([256] if "rows" in expected else [0])


def test_a_new_row_goes_to_single_bytes_of_words() -> None:
    tables = counted_rows("transpose")
    tables.plan.network.outputs[0].storage.apart = 4
    main = kv_cache(placed_main(tables), tables)
    (found,) = [line for line in statements(main) if "AT(y" in line]
    assert re.fullmatch(r"dma_store_bytes\(\d+, \d+, AT\(y, 0\), L1\(\d+\), 512, 4\)", found)
    (again,) = [line for line in statements(read_function(main.function, tables, False)) if "AT(y" in line]
    assert again == found
