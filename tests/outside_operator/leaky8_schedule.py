"""The leaky rectifier on the cores: its kernel, which layers that takes, and what a call costs."""

from pathlib import Path

from schedules.cluster import Arguments, Fields, KernelForm, Schedule, register
from schedules.kernel_cycles import Work, share, state_costs, work
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc import add_kernels
from tvm_pulp.uma.box import Box


def applies(layer: Layer) -> bool:
    """Signed bytes."""
    return layer.inputs[0].spec.dtype == "int8"


class Leaky8Kernel(KernelForm):
    kernel = "leaky8"

    def fields(self, call: Arguments, box: Box) -> Fields:
        x = call.load("x", self.layer.inputs[0], box)
        return {"x": x, "count": box.elements, "slope": self.layer.attributes["slope"]}


@work("leaky8")
def leaky8_work(f: Fields, cores: int) -> Work:
    return {"call": 1, "element": share(f["count"], cores)}


for core_type, element in (("ri5cy", 9.0), ("rv32", 8.0)):
    state_costs("leaky8", core_type, {"call": 40.0, "element": element}, {"call": 60.0, "element": 30.0})
add_kernels(Path(__file__).parent / "kernels")
register("leaky8", Schedule(applies, Leaky8Kernel))
