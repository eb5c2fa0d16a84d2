"""Design-space studies: many models on many machines, one row each.

from tvm_pulp.dse import Study, grid

socs = grid(cores=[2, 4, 8], l1=["64k", "256k"])
study = Study(models=["zoo:dscnn"], socs=socs, targets=["c"])
table = study.run()
"""

from tvm_pulp.dse.altair_chart import chart, lines
from tvm_pulp.dse.configuration import Configuration
from tvm_pulp.dse.model import Model
from tvm_pulp.dse.pareto import hypervolume, pareto_front
from tvm_pulp.dse.rich_display import trade_off
from tvm_pulp.dse.soc_grid import SocGrid, Variant, grid
from tvm_pulp.dse.study import Study
from tvm_pulp.dse.study_file import read_study

__all__ = [
    "Configuration",
    "Model",
    "SocGrid",
    "Study",
    "Variant",
    "chart",
    "grid",
    "hypervolume",
    "lines",
    "pareto_front",
    "read_study",
    "trade_off",
]
