"""Golden layers: operands, packed weights, register images, outputs and cycle counts."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.uma_backends.flat_machine import Machine
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses

MODES = {"conv1x1": Mode.POINTWISE, "conv3x3": Mode.DENSE_3X3, "dw3x3": Mode.DEPTHWISE_3X3}
VARIANTS = ("l1", "wmem", "wmem_prefetch")
NAMES = (
    "pw_u8u8_w8_32x32", "pw_u8u8_w8_odd43x39", "pw_i8i8_w8_gemv", "pw_u8u8_w4", "pw_u8i8_w2_odd", "pw_u8_i32_nonq",
    "pw_i8i8_scale32", "pw_u8u8_stride2", "pw_gemm_m24k100n48", "pw_i8i8_wrap32_bias", "d3_u8u8_w8_pad1",
    "d3_i8i8_w8_odd_pad0", "d3_u8i8_asympad_nobias", "d3_u8u8_w4_pad1", "d3_i8_i32_nonq", "d3_u8u8_stride2_rgb",
    "d3_u8u8_rgb16", "d3_u8i8_pad2_tl", "dw_u8u8_w8_28", "dw_i8i8_w8_odd45", "dw_u8i8_w4_30", "dw_u8_i32_nonq33",
    "dw_i8i8_scale32_nobias",
)  # fmt: skip


@dataclass(frozen=True)
class GoldenVector:
    """One layer of the golden set."""

    arrays: dict[str, NDArray[Any]]
    flags: dict[str, Any]
    job: NeurekaJob

    @classmethod
    def load(cls, path: Path) -> "GoldenVector":
        """Read a file and describe its job."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        flags = json.loads(str(arrays["flags"]))
        mode = MODES[flags["mode"]]
        step = flags["stride"] if mode is Mode.POINTWISE else 1
        how = Requantization(flags["scale_bits"], flags["shift"], flags["has_bias"], flags["relu"])
        job = NeurekaJob(
            mode=mode,
            input_channels=flags["c_in"],
            output_channels=flags["c_out"],
            output_height=int(arrays["job_h_out"]),
            output_width=int(arrays["job_w_out"]),
            padding=Padding(
                flags["pad_top"], flags["pad_bottom"], flags["pad_left"], flags["pad_right"], flags["pad_value"]
            ),
            weight_bits=flags["weight_bits"],
            weight_offset=flags["weight_offset"],
            input_signed=flags["in_type"] == "int8",
            output_bits=32 if flags["out_type"] == "int32" else 8,
            requantization=how if flags["norm_quant"] else None,
            input_pixel_stride=step * flags["c_in"],
            input_row_stride=step * flags["w_in"] * flags["c_in"],
        )
        return cls(arrays, flags, job)

    @property
    def output_step(self) -> int:
        """A 3x3 layer of stride 2 is a stride-1 job of which every second pixel counts."""
        return int(self.flags["stride"]) if self.job.mode is not Mode.POINTWISE else 1

    def cycles(self, variant: str) -> int | None:
        """Cycles of the reference simulator, or None where it has none."""
        cycles = int(self.arrays[f"cycles_{variant}"])
        return None if cycles < 0 else cycles

    def variant(self, variant: str) -> tuple[NeurekaJob, Addresses, list[int]]:
        """ArrayJob, addresses and register image with weights in L1 or weight memory, with or without prefetch."""
        source = "l1" if variant == "l1" else "wmem"
        prefetch = variant == "wmem_prefetch"
        job = replace(self.job, weight_memory=source == "wmem", prefetch=prefetch)
        image = [int(word) for word in self.arrays[f"regs_{source}"]]
        image[23] |= prefetch << 10
        return job, Addresses(*(int(address) for address in self.arrays[f"addr_{source}"])), image

    def load_into(self, machine: Machine, at: Addresses, weight_memory: bool) -> None:
        """Put the operands where the register image expects them."""
        packed = self.arrays["packed_weight"]
        machine.write_l1(at.input, self.arrays["input"])
        machine.write_l1(at.scale, self.arrays["scale"])
        machine.write_l1(at.bias, self.arrays["bias"])
        if weight_memory:
            machine.weight_memory[at.weights - WEIGHT_MEMORY_BASE :][: packed.size] = packed
        else:
            machine.write_l1(at.weights, packed)

    def output_from(self, machine: Machine, at: Addresses) -> NDArray[Any]:
        """Read the result back, sub-sampled where the layer has a stride."""
        shape = (self.job.output_height, self.job.output_width, self.job.output_channels)
        return machine.read_l1(at.output, shape, self.arrays["output"].dtype)[:: self.output_step, :: self.output_step]
