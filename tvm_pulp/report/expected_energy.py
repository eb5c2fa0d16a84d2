"""Energy that a planned network is expected to take: the SoC's coefficients times counts of the program on paper."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.program.actions import FetchAction, JobAction, Step, TransferAction, actions_of
from tvm_pulp.report.energy import Modelled, modelled_energy
from tvm_pulp.report.figures import summed
from tvm_pulp.soc import Soc
from tvm_pulp.soc.cost_model import CostModel

# Nothing on paper says these: means of runs of the zoo. A core loads or stores in three of ten cycles.
_L1_BYTES_PER_CORE_CYCLE = 1.2
_WEIGHT_BYTES_PER_BUSY_CYCLE = 12.0
# Relative deviation of such an energy from the simulated one, beside what is not known about the coefficients.
_SPREAD = 0.1


def expected_energy(soc: Soc, cores: int, program: Sequence[Step], macs: Mapping[str, int]) -> Modelled | None:
    """Energy of a program whose engines make so many multiply-accumulates each; None where a coefficient is missing."""
    layers = 1 + max((j.layer for step in program for j in step.actions if hasattr(j, "layer")), default=-1)
    expected = estimate_program(program, layers, CostModel(soc, cores))
    busy = summed((span.resource, span.end - span.start) for span in expected.spans if span.resource in soc.engines)
    moved = sum(
        a.bytes for t in actions_of(program, TransferAction) for a in (t.writes if t.do == "store" else t.reads)
    )
    deep = sum(a.bytes for fetch in actions_of(program, FetchAction) for a in fetch.writes)
    jobs = list(actions_of(program, JobAction))
    alone = expected.issue_cycles
    active = cores * max(0, expected.cycles - expected.asleep_cycles - alone) + alone
    streams = {job.engine for job in jobs if any(a.space not in ("L1", "L2") for a in job.reads)}
    modelled = modelled_energy(
        soc,
        {
            "core_active_cycle": active,
            "core_idle_cycle": soc.harts * expected.cycles - active,
            "l1_byte": active * _L1_BYTES_PER_CORE_CYCLE
            + moved
            + sum(a.bytes for job in jobs for a in (*job.reads, *job.writes) if a.space == "L1"),
            "l2_byte": moved + deep,
            "l3_byte": deep,
            "weight_byte": sum(busy[engine] * _WEIGHT_BYTES_PER_BUSY_CYCLE for engine in streams),
            **{f"busy_{engine}": cycles for engine, cycles in busy.items()},
            **{f"mac_{engine}": macs.get(engine, 0) for engine in busy},
            "static_cycle": expected.cycles,
        },
    )
    return None if modelled is None else replace(modelled, counts_spread=_SPREAD)
