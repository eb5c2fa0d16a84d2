"""Runs that tests of reports and pages share, made once in a process."""

from functools import cache

import tvm_pulp
from tvm_pulp.api import Result


@cache
def example_run(model: str, target: str, soc: str | None = None, cores: int | None = None) -> Result:
    """A network of the zoo, compiled without the solver and run."""
    planner = None if target == "c" and soc is None else "greedy"
    return tvm_pulp.compile(f"zoo:{model}", target, soc=soc, cores=cores, planner=planner).run()
