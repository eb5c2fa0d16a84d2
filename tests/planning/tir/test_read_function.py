"""TIR is the program: what is printed as TIR reads back as the same records, and what a TIR pass changes is obeyed."""

from typing import Any

import pytest
from tvm import tirx

from tests.planning.tir.small_plans import two_tiles
from tests.planning.tir.test_kv_cache import appended
from tvm_pulp.codegen.cluster_source import ClusterSource
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.errors import UserError
from tvm_pulp.planning.program.actions import Begin, TransferAction
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.planning.tir.read_function import read_function
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.backend import UMABackend

CASES = {
    "two layers": lambda: two_tiles(overlap=True, layers=2),
    "one buffer": lambda: two_tiles(overlap=False),
    "one core": lambda: two_tiles(overlap=True, cores=2),
    "cache in L2": appended,
    "cache in L3": lambda: appended(level="l3"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_function_with_addresses_reads_back_as_it_was_built(case: str) -> None:
    tables: Tables = CASES[case]()
    for name, main in lower(tables.plan).mains:
        assert read_function(main.function, tables, main.has_agents) == main, name


class _Engine(UMABackend):
    """An engine whose pass drops the last barrier but one, behind `synchronise`."""

    def __init__(self, transform: Any, phase: str = "post_barriers") -> None:
        super().__init__()
        self._register_tir_pass(phase, transform)

    @property
    def target_name(self) -> str:
        return "dropper"


def test_what_a_tir_pass_returns_is_the_program() -> None:
    def rename_groups(function: Any) -> Any:
        """Group 0 of every agent becomes group 3."""

        def renamed(made: Any) -> Any:
            name, *values = (a.value if hasattr(a, "value") else a for a in made.value.args)
            if name not in ("dma_begin", "dma_wait"):
                return made
            return tirx.Evaluate(tirx.call_extern("int32", name, values[0], 3 if values[1] == 0 else values[1]))

        return function.with_body(tirx.SeqStmt([renamed(made) for made in function.body.seq]))

    plan = two_tiles(overlap=True).plan
    lowered = lower(plan, [_Engine(rename_groups)])
    begun = [a.group for step in lowered.program for a in step.actions if isinstance(a, Begin)]
    assert begun and set(begun) == {3}
    assert lowered.stages[-1].name == "post_barriers" and 'dma_begin", 0, 3' in lowered.function.script()


def test_a_transfer_that_a_pass_takes_away_is_gone() -> None:
    def without_stores(function: Any) -> Any:
        kept = [s for s in function.body.seq if not str(s.value.args[0].value).startswith("dma_store")]
        return function.with_body(tirx.SeqStmt(kept))

    lowered = lower(two_tiles(overlap=True).plan, [_Engine(without_stores, "pre_barriers")])
    moved = [a.do for step in lowered.program for a in step.actions if isinstance(a, TransferAction)]
    assert moved and set(moved) == {"load"}


def test_an_unknown_call_is_refused() -> None:
    def sing(function: Any) -> Any:
        song = tirx.Evaluate(tirx.call_extern("int32", "sing"))
        return function.with_body(tirx.SeqStmt([*function.body.seq, song]))

    with pytest.raises(UserError, match="a TIR pass left 'sing' in the main function: use the calls that"):
        lower(two_tiles(overlap=True).plan, [_Engine(sing)])


def test_commands_without_room_in_their_records_are_refused() -> None:
    """Records have their room before engines' own passes run."""

    def twenty_times(function: Any) -> Any:
        many = [s for s in function.body.seq for _ in range(20 if str(s.value.args[0].value) == "dma_load" else 1)]
        return function.with_body(tirx.SeqStmt(many))

    lowered = lower(two_tiles(overlap=True).plan, [_Engine(twenty_times, "pre_barriers")])
    with pytest.raises(
        UserError, match="added commands for which bundle_0 has no room in its 156 bytes of step records"
    ):
        ClusterSource(lowered, Kernels("net", shared_loops=True), {}).run_file()
