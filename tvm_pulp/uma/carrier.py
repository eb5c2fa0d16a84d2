"""SoCs that carry an engine: what holds for all of them, and what the engine's backend asks for."""

from tvm_pulp.errors import refuse_if
from tvm_pulp.soc.carry_engine import why_not_carried
from tvm_pulp.soc.description import Soc
from tvm_pulp.uma import registry


def check_carrier(soc: Soc, engine: str) -> None:
    """That a SoC, whose description has the engine, can carry it; a user error says why not."""
    known, described = engine in registry.names(), soc.engines[engine]
    backend = registry.backend(engine).variant(described) if known else None
    reason = why_not_carried(soc, engine) or (backend and backend.why_not_carried(described))
    refuse_if(reason, f"--soc {soc.name} cannot carry '{engine}': {reason}")
