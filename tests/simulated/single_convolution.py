"""A network of one quantized convolution of any kind, and its run on eight cores beside onnxruntime's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import tvm_pulp
from tests.frontend.quantized_onnx import onnxruntime_run


@dataclass(frozen=True)
class Convolution:
    """A layer with the MACs per cycle that it reaches at least, transfers included; one axis of the kernel each."""

    kernel: tuple[int, ...]
    size: tuple[int, ...]
    channels: int
    macs_per_cycle: float
    filters: int = 0
    groups: int = 1
    stride: int = 1
    dilation: int = 1
    op: str = "Conv"
    batch: int = 1
    quick: bool = False

    @property
    def pads(self) -> list[int]:
        sides = [self.dilation * (k - 1) // 2 for k in self.kernel]
        return [*sides, *sides]

    @property
    def macs(self) -> int:
        """Per output of an ordinary convolution, per input of a transposed one."""
        sides = [-(-n // self.stride) for n in self.size] if self.op == "Conv" else self.size
        filters = self.batch * (self.filters or self.channels)
        return int(np.prod([*self.kernel, *sides])) * self.channels * filters // self.groups

    def network(self) -> Any:
        rng, filters, rank = np.random.default_rng(3), self.filters or self.channels, len(self.kernel)
        shape = (filters, self.channels // self.groups, *self.kernel)
        if self.op == "ConvTranspose":
            shape = (self.channels, filters // self.groups, *self.kernel)
        per_channel = filters if self.op == "Conv" else 1
        constants = {
            "w": rng.integers(-127, 128, shape).astype(np.int8),
            "ws": rng.uniform(0.002, 0.004, per_channel).astype(np.float32), "wz": np.zeros(per_channel, np.int8),
            "b": rng.integers(-2000, 2000, filters).astype(np.int32), "xs": np.float32(0.021), "xz": np.int8(-7),
        }  # fmt: skip
        constants |= {"bs": constants["ws"] * constants["xs"], "bz": np.zeros(per_channel, np.int32)}
        taps = np.prod(self.kernel) * self.channels / self.groups
        constants |= {"ys": np.float32(0.0141 * np.sqrt(taps)), "yz": np.int8(5)}
        for name in ("ws", "wz", "bs", "bz"):
            constants[name] = constants[name] if per_channel > 1 else constants[name].reshape(())
        window = {"group": self.groups, "pads": self.pads, "strides": [self.stride] * rank}
        nodes = [
            helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["real"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["filters"], axis=0),
            helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bias"], axis=0),
            helper.make_node(
                self.op, ["real", "filters", "bias"], ["c"], "c", dilations=[self.dilation] * rank, **window
            ),
            helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["y"]),
        ]
        x = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [self.batch, self.channels, *self.size])
        y = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, None)
        stored = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
        graph = helper.make_graph(nodes, "g", [x], [y], stored)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        return onnx.shape_inference.infer_shapes(made)

    def run(self, folder: Path, **options: Any) -> Any:
        """The report of a run whose output equals onnxruntime's; on eight cores unless options say otherwise."""
        model = self.network()
        onnx.save(model, folder / "m.onnx")
        shape = (self.batch, self.channels, *self.size)
        feeds = {"x": np.random.default_rng(4).integers(-128, 128, shape).astype(np.int8)}
        chosen = {"target": "c", "soc": "siracusa", **options}
        result = tvm_pulp.compile(folder / "m.onnx", **chosen).run(feeds)
        (output,) = result.outputs.values()
        np.testing.assert_array_equal(output, onnxruntime_run(model, feeds)[0])
        return result.report
