"""The same program on several simulators: do outputs and cycles agree?"""

from tvm_pulp.sim.crosscheck.baseline import baseline_measurements, record, write_baseline
from tvm_pulp.sim.crosscheck.compare import Comparison, compare, deviation
from tvm_pulp.sim.crosscheck.measure import Measurement, measure

__all__ = [
    "Comparison",
    "Measurement",
    "baseline_measurements",
    "compare",
    "deviation",
    "measure",
    "record",
    "write_baseline",
]
