"""Golden layers: operands, packed weights, register images, outputs and cycle counts."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uma_backends.ne16.geometry import Mode
from uma_backends.ne16.job import Ne16Job, Padding, Patch, Requantization, patches
from uma_backends.ne16.registers import Addresses

MODES = {
    "conv1x1": Mode.POINTWISE,
    "conv3x3": Mode.DENSE_3X3,
    "dw3x3": Mode.DEPTHWISE_3X3,
    "linear": Mode.LINEAR,
}
NAMES = (
    "d3_u8_i32_nonq", "d3_u8_i32_streamin", "d3_u8i8_w4_odd_pad0", "d3_u8u8_stride2_rgb", "d3_u8u8_w8_asympad",
    "d3_u8u8_w8_pad1", "dw_u8i8_w8_odd37", "dw_u8u8_stride2", "dw_u8u8_w8_16", "pw_u8_i32_nonq_w2",
    "pw_u8i8_gemv_k100n48", "pw_u8i8_w8_odd37x43", "pw_u8i8_wrap32_bias", "pw_u8u8_shiftvec", "pw_u8u8_stride2",
    "pw_u8u8_w4_scale32", "pw_u8u8_w8_16x32", "x_d3_u16_i32_w8", "x_lin_u8i8_w8_k304n40",
)  # fmt: skip


@dataclass(frozen=True)
class GoldenVector:
    """One layer of the golden set."""

    arrays: dict[str, NDArray[Any]]
    flags: dict[str, Any]
    at: Addresses
    # With the output pixel each begins with.
    jobs: tuple[Patch, ...]

    @classmethod
    def load(cls, path: Path) -> "GoldenVector":
        """Read a file and describe its jobs."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        flags = json.loads(str(arrays["flags"]))
        mode = MODES[flags["mode"]]
        bits = 16 if flags["in_type"] == "uint16" else 8
        step = flags["stride"] if mode is Mode.POINTWISE else 1
        how = Requantization(
            flags["scale_bits"], flags["shift"], flags["has_bias"], flags["relu"], flags["shift_vector"]
        )
        sides = (flags["pad_top"], flags["pad_bottom"], flags["pad_left"], flags["pad_right"], flags["pad_value"])
        strided = flags["stride"] == 2 and mode is not Mode.POINTWISE
        job = Ne16Job(
            mode=mode,
            input_channels=flags["c_in"],
            output_channels=flags["c_out"],
            output_height=flags["h_out"],
            output_width=flags["w_out"],
            # The layer's own padding does not describe a job without stride.
            padding=Padding() if strided else Padding(*sides),
            weight_bits=flags["weight_bits"],
            weight_offset=flags["weight_offset"],
            input_bits=bits,
            output_bits=32 if flags["out_type"] == "int32" else 8,
            requantization=how if flags["norm_quant"] else None,
            stream_in=flags["stream_in"],
            input_pixel_stride=step * flags["c_in"] * bits // 8,
            input_row_stride=step * flags["w_in"] * flags["c_in"] * bits // 8,
        )
        jobs = [Patch(0, 0, job)]
        if strided:
            jobs = patches(replace(job, padding=Padding(*sides)), flags["h_in"], flags["w_in"])
        return cls(arrays, flags, Addresses(*(int(a) for a in arrays["addr"])), tuple(jobs))

    def addresses(self, patch: Patch) -> Addresses:
        """Those of one job: its own part of input and output."""
        if not patch.job.strided:
            return self.at
        (pixel, row), (output_pixel, output_row) = patch.job.input_strides, patch.job.output_strides
        pad_row, pad_column = (0 if patch.row == 0 else self.flags["pad_top"]), self.flags["pad_left"]
        # The window of a patch behind the first one begins inside the tensor.
        y = 2 * patch.row - pad_row
        x = 2 * patch.column - (0 if patch.column == 0 else pad_column)
        return replace(
            self.at,
            input=self.at.input + y * row + x * pixel,
            output=self.at.output + patch.row * output_row + patch.column * output_pixel,
        )

    @property
    def memory(self) -> list[tuple[int, NDArray[Any]]]:
        """What lies where before the first job."""
        found = [
            (self.at.input, self.arrays["input"]),
            (self.at.weights, self.arrays["packed_weight"]),
            (self.at.scale, self.arrays["scale"]),
            (self.at.bias, self.arrays["bias"]),
            (self.at.shift, self.arrays["shift_vector"]),
        ]
        if "initial_output" in self.arrays:
            found.append((self.at.output, self.arrays["initial_output"]))
        return [(address, array) for address, array in found if array.size]
