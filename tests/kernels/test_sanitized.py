"""The plain-C twins under address and undefined-behaviour checks: every buffer has exactly the size it needs."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.added_row_cases import requantize_add_sum_case, requantize_add_table_case
from tests.kernels.attention_cases import (
    attention_case,
    past_qdq_attention_case,
    qdq_attention_case,
    qdq_rope_case,
    rope_case,
)
from tests.kernels.bias_of_rest_case import bias_of_rest_case
from tests.kernels.call import TWIN_INCLUDES, WARNINGS, Call, Out, Scratch, plain_twins
from tests.kernels.elementwise_cases import (
    add_case,
    add_in_range_case,
    dequantize_case,
    gate_case,
    gelu_case,
    hardswish_case,
    lookup_case,
    lookup_pairs_case,
    mul_case,
    qdq_mul_case,
    quantize_case,
    requantize_add_case,
    requantize_case,
    requantize_sum_case,
)
from tests.kernels.long_dense_case import long_dense_case
from tests.kernels.matrix_cases import (
    Case,
    Window,
    conv2d_case,
    dense_case,
    depthwise_case,
    matmul_case,
    nibble_dense_case,
)
from tests.kernels.movement_cases import copy_rows_case, join_planes_case, pool_case, transpose_case
from tests.kernels.pair_cases import add_pairs_case
from tests.kernels.past_attention_cases import past_attention_case, past_parts_case, rotary_case, value_groups_case
from tests.kernels.qdq_weights_cases import qdq_weights_case, row_sums_case
from tests.kernels.random_requant import KINDS
from tests.kernels.row_cases import (
    group_norm_case,
    i_softmax_case,
    layer_norm_case,
    qdq_norm_case,
    rms_norm_case,
    softmax_ita_case,
    softmax_table_case,
    softmax_tflite_case,
    uniform_norm_case,
)
from tests.kernels.settle_case import settle_case
from tvm_pulp.toolchain import build_host_program

CORES = 3
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tvm_pulp/kernels.h"
static void *rooms[4096];
static void *buffer(const void *from, size_t bytes) {
  static int made;
  void *room = rooms[made++] = malloc(bytes);
  if (from) memcpy(room, from, bytes); else memset(room, 0xa5, bytes);
  return room;
}
"""
FUNCTION = "static __attribute__((noinline)) void"


class Program:
    """C text that makes calls and prints their results, one line of hexadecimal digits each."""

    def __init__(self) -> None:
        self.data: list[str] = []
        self.body: list[str] = []
        self.functions: list[str] = []

    def _pointer(self, value: Any, outputs: list[tuple[str, int]]) -> str:
        if value is None:
            return "0"
        if isinstance(value, Scratch):
            return self._keep(f"buffer(0, {value.stride * CORES})")
        if isinstance(value, Out):
            size = value.empty().nbytes
            name = self._keep(f"buffer(0, {size})") if value.before is None else self._pointer(value.before, outputs)
            outputs.append((name, size))
            return name
        content = np.ascontiguousarray(value).tobytes()
        source = f"data{len(self.data)}"
        self.data.append(f"static const unsigned char {source}[] = {{{','.join(map(str, content))}}};")
        return self._keep(f"buffer({source}, {len(content)})")

    def _keep(self, expression: str) -> str:
        name = f"p{len(self.body)}"
        self.body.append(f"  void *{name} = {expression};")
        return name

    def _fields(self, values: Any, outputs: list[tuple[str, int]]) -> str:
        parts = []
        for name, value in values.items():
            if isinstance(value, dict):
                parts.append(f".{name} = {{{self._fields(value, outputs)}}}")
            elif value is None or isinstance(value, np.ndarray | Out | Scratch):
                parts.append(f".{name} = {self._pointer(value, outputs)}")
            else:
                parts.append(f".{name} = {int(value)}")
        return ", ".join(parts)

    def add(self, call: Call) -> None:
        outputs: list[tuple[str, int]] = []
        fields = self._fields(dict(call.arguments), outputs)
        args = f"a{len(self.body)}"
        self.body.append(f"  struct {call.structure_name} {args} = {{{fields}}};")
        loop = f"for (unsigned core = 0; core < {CORES}; ++core)"
        self.body.append(f"  {loop} tvm_pulp_kernel_{call.kernel}(&{args}, core, {CORES});")
        ((name, size),) = outputs
        self.body.append(f'  for (int i = 0; i < {size}; ++i) printf("%02x", ((unsigned char *){name})[i]);')
        self.body.append('  printf("\\n");')
        # One function for each call: in one `main` the compiler takes ten times as long.
        self.functions.append("\n".join([f"{FUNCTION} call{len(self.functions)}(void) {{", *self.body, "}"]))
        self.body.clear()

    def text(self) -> str:
        calls = [f"  call{index}();" for index in range(len(self.functions))]
        return "\n".join([HEAD, *self.data, *self.functions, "int main(void) {", *calls, "  exit(0);", "}", ""])


def cases(rng: np.random.Generator) -> Iterator[Case]:
    window = Window((3, 2), (2, 1), (1, 1), (1, 1, 1, 1))
    yield long_dense_case(rng, 5, 7, 40, 16)
    yield nibble_dense_case(rng, 8, 12, "uint8")
    yield bias_of_rest_case(rng, 7, 8, "uint8", "int32")
    yield settle_case(rng, (3, 5), 8, 6, open_share=0.5)
    yield settle_case(rng, (3, 5), 8, dtypes=("uint8", "uint8"), open_share=0.5)
    for kind in KINDS:
        yield dense_case(rng, 5, 7, 9, kind)
        yield matmul_case(rng, 2, 3, 5, 7, kind, types=("uint8", "uint8"), transpose_b=False, zero_points=(3, -4))
        yield conv2d_case(rng, (5, 6, 3), 5, window, kind, zero_point=3)
        yield depthwise_case(rng, (5, 6, 5), window, kind, zero_point=3)
        yield attention_case(rng, 2, 3, 5, 4, kinds=("pulp", kind), with_probability=kind == "pulp")
        yield rope_case(rng, 2, 3, 4, kind)
        yield add_case(rng, 3, 7, kind)
        yield add_case(rng, 3, 7, kind, form="tflite")
        yield mul_case(rng, 3, 7, kind, zero_points=(3, 1), broadcast=True)
        yield requantize_case(rng, 3, 7, kind, dtype="int32", per_channel=True)
        yield hardswish_case(rng, 3, 7, kind)
        yield gelu_case(rng, 3, 7, kind)
    yield rotary_case(rng, 3, 2, 6)
    yield past_attention_case(rng, (2, 3), 2, 2, 32, (7, 9))
    yield past_attention_case(rng, (1, 1), 3, 1, 12, (6, 6))
    yield past_attention_case(rng, (2, 3), 2, 2, 12, (7, 9), by_element=True)
    yield value_groups_case(rng, 6, 12, 7)
    for part in ("past_scores", "past_mix", "past_mix_by_element", "past_mean"):
        yield past_parts_case(rng, part, 3, 2, 12, (5, 6))
    yield lookup_case(rng, 37)
    yield gate_case(rng, 37, rounded=True)
    yield gate_case(rng, 37, dtype="uint8", rounded=False)
    for form in ("alone", "kept", "scaled", "twice"):
        yield add_pairs_case(rng, 3, 7, form, per_channel=form != "kept", dtype="uint8" if form == "twice" else "int8")
    yield i_softmax_case(rng, 5, 9)
    yield softmax_ita_case(rng, 5, 9)
    yield softmax_ita_case(rng, 5, 37, group=16)
    yield softmax_table_case(rng, 5, 9)
    yield softmax_tflite_case(rng, 5, 9)
    yield rms_norm_case(rng, 5, 9)
    yield rms_norm_case(rng, 5, 9, wide=True, levels=1024)
    yield uniform_norm_case(rng, 5, 9)
    yield layer_norm_case(rng, 5, 9)
    yield layer_norm_case(rng, 5, 9, wide=True, dtype="uint8")
    for form in ("layer", "rms", "layer_quantized", "rms_quantized", "plain"):
        yield group_norm_case(rng, 2, 3, 5, dtype="uint8" if form == "rms" else "int8")
        yield qdq_norm_case(rng, 5, 9, form=form, dtype="uint8" if form == "rms" else "int8")
    yield qdq_attention_case(rng, 4, 3, 5, 6, group=2, types="sus", classes=2, tables="qk")
    yield qdq_attention_case(rng, 1, 2, 3, 4, types="uuu")
    yield past_qdq_attention_case(rng, 2, 2, (5, 9, 3), 6, types="sus", classes=2, tables="qk")
    yield past_qdq_attention_case(rng, 1, 1, (0, 4, 1), 4)
    for shifted in (False, True):
        yield qdq_weights_case(rng, 2, 3, 5, classes=2, shifted=shifted)
    yield row_sums_case(rng, 2, 3, 8, dtype="uint8")
    yield qdq_rope_case(rng, 3, 2, 6, axis=2)
    yield requantize_add_case(rng, 3, 8, "uint8")
    yield requantize_add_table_case(rng, 3, 8)
    yield requantize_add_sum_case(rng, 3, 8, "uint8")
    yield lookup_pairs_case(rng, 23)
    yield add_in_range_case(rng, 3, 7, ("int8", "uint8"), broadcast=True)
    yield requantize_sum_case(rng, 3, 8, "uint8", "int8")
    yield quantize_case(rng, 3, 7, apart=True, strange=True)
    yield quantize_case(rng, 3, 7, apart=True, repeated=1)
    yield dequantize_case(rng, 37, "uint8")
    yield qdq_mul_case(rng, 3, 7, types=("uint8", "int8"), broadcast=True)
    yield pool_case(rng, (5, 6, 5), Window((2, 3), pads=(1, 1, 1, 1)), average=True)
    yield pool_case(rng, (5, 6, 5), Window((2, 3), pads=(1, 1, 1, 1)), average=False)
    yield transpose_case(rng, (2, 3, 4, 5), (2, 0, 3, 1))
    yield transpose_case(rng, (2, 3, 4, 5), (0, 2, 1, 3), dtype="int32")
    yield join_planes_case(rng, 7)
    yield copy_rows_case(rng, 3, 7, 2)


def test_twins_are_clean(tmp_path: Path) -> None:
    everything = list(cases(np.random.default_rng(11)))
    program = Program()
    for case in everything:
        program.add(case.call)
    source = tmp_path / "calls.c"
    source.write_text(program.text(), encoding="utf-8")
    sources = [source, *plain_twins()]
    # Checks cost less time to compile, and the same at run time, without the second level of optimization.
    executable = build_host_program(sources, TWIN_INCLUDES, extra_flags=[*WARNINGS, "-O1"], sanitize=True)
    finished = subprocess.run([executable], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert finished.stderr == ""
    lines = finished.stdout.split()
    for case, line in zip(everything, lines, strict=True):
        assert bytes.fromhex(line) == np.ascontiguousarray(case.expected).tobytes(), case.call.kernel
