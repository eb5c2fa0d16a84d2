"""`<name>_debug.c`: what a debug build checks, step by step, and the executor that lets it.

On a cluster every activation that a step reads from L1 has a checksum, computed for a sample input by the dialect's
references, and so has every result before it is stored, and every output of the network at the end. Behind every block
of L1 lie bytes that nothing may touch. The first check that fails names the layer. `cpu_debug` holds those of CPUs.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from tvm_pulp.codegen.model_text import safe
from tvm_pulp.codegen.reference_values import Values, reference_values, value_of
from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.soc.kernel_sources import texts_in
from tvm_pulp.uma.backend import Codegen
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Store

GUARD_BYTES = 16
GUARD, FILL, INPUT, CONTENT = "GUARD", "FILL", "INPUT", "CONTENT"
_FACTOR, _GUARD_BYTE = 16777619, 0xC5
# In one step: what was there before is looked at before anything new is written.
_ORDER = (INPUT, GUARD, CONTENT, FILL)
_FOLDER = "debug"
# The loop over the steps, as executors write it.
_LOOP, _LOOP_END = re.compile(r"  while \(step != 0\) \{\n"), re.compile(r"    step = (next|step->next);\n  \}")


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    step: int
    kind: str
    layer: str
    what: str
    address: int  # in L1, or behind a pointer of the caller
    base: int
    bytes: int
    checksum: int = 0

    @property
    def is_output(self) -> bool:
        return self.what.startswith("output")


def checksum(data: bytes) -> int:
    """As the runtime computes it: the order of bytes counts, and so do zeros at the end."""
    values = np.frombuffer(data, np.uint8).astype(np.uint32) + np.uint32(1)
    powers = np.cumprod(np.full(max(0, len(data) - 1), _FACTOR, np.uint32), dtype=np.uint32)
    weights = np.concatenate([powers[::-1], np.ones(1, np.uint32)]) if len(data) else powers
    return int((values * weights).sum(dtype=np.uint32))


def debug_checks(lowered: LoweredPlan, bases: Mapping[Tensor, int], inputs: Sequence[np.ndarray]) -> list[Check]:
    """All checks in order."""
    plan, positions = lowered.plan, lowered.positions
    inexact = [layer.layer.name for layer in plan.layers if layer.tiling.form.rounding.deviation]
    values = reference_values(plan.network, inputs, inexact)
    found = [
        *_ends(plan, len(positions), bases, values),
        *_contents(lowered, positions, values),
        *_guards(plan, positions),
    ]
    return in_order(found, [layer.layer.name for layer in plan.layers])


def in_order(checks: Sequence[Check], layers: Sequence[str]) -> list[Check]:
    """Checks by their steps; of one step in the order of layers, so that the first wrong one is named."""
    numbers = {name: number for number, name in enumerate(layers)}
    return sorted(checks, key=lambda c: (c.step, _ORDER.index(c.kind), numbers.get(c.layer, -1), not c.is_output))


def content_of(
    value: np.ndarray, step: int, layer: str, what: str, address: int, base: int, kind: str = CONTENT
) -> Check:
    """Bytes that have to be those of a value."""
    data = np.ascontiguousarray(value).tobytes()
    return Check(step, kind, layer, what, address, base, len(data), checksum(data))


def guard_of(layer: str, name: str, address: int, base: int, first: int, last: int) -> Iterator[Check]:
    """The bytes behind a buffer: filled before a step, and looked at before another."""
    what = f"bytes behind buffer {name}"
    yield Check(first, FILL, layer, what, address, base, GUARD_BYTES)
    yield Check(last, GUARD, layer, what, address, base, GUARD_BYTES, checksum(bytes([_GUARD_BYTE]) * GUARD_BYTES))


def _ends(plan: Plan, steps: int, bases: Mapping[Tensor, int], values: Values) -> Iterator[Check]:
    """Inputs before the first step, outputs behind the last."""
    makers = {t.storage: layer.layer.name for layer in plan.layers for t in layer.layer.outputs}
    for kind, step, tensors in ((INPUT, 0, plan.network.inputs), (CONTENT, steps, plan.network.outputs)):
        for tensor in dict.fromkeys(t.storage for t in tensors):
            value = values.get(tensor)
            if tensor in bases and value is not None and value.size:
                layer = makers.get(tensor, "")
                what = f"output {tensor.source or tensor.name}, as stored" if layer else f"input {tensor.source}"
                yield content_of(value, step, layer, what, 0, bases[tensor] + 1, kind)


def _contents(lowered: LoweredPlan, positions: Sequence[int], values: Values) -> Iterator[Check]:
    """Operands of steps before the first of them reads, and results before they are stored."""
    plan = lowered.plan
    makers = {t.storage: p.layer.name for p in plan.layers for t in p.layer.outputs}
    stores = {(m.layer, m.tile, m.place.block): m.position for m in plan.schedule.moves if m.outward}
    for number, layer in enumerate(plan.layers):
        name = layer.layer.name
        for tile, recipe in enumerate(layer.recipes):
            own = lowered.tables.tile_slots.get((number, tile), [])
            for step in recipe.steps:
                if isinstance(step, Load) and step.tensor.storage.kind != "constant" and not step.pitch:
                    readers = [s for s in own if step.local in _reads(s.step) and step.local in s.places]
                    for reader in readers[:1]:
                        place, maker = reader.places[step.local], makers.get(step.tensor.storage)
                        kept = plan.schedule.resident.get(step.tensor.storage) is place.block
                        what = _arrival(step.tensor, maker, name, kept)
                        whose, at = maker if kept and maker else name, bisect_left(positions, reader.position)
                        yield from _content(at, whose, what, place.address, step, values)
                elif isinstance(step, Store):
                    for writer in [s for s in own if step.local in s.places][:1]:
                        place = writer.places[step.local]
                        position = stores.get((number, tile, place.block))
                        if position is not None:
                            at, what = bisect_left(positions, position), f"output {step.tensor.storage.name}"
                            yield from _content(at, name, what, place.address, step, values)


def _reads(step: Kernel | Call | Job) -> Sequence[Local | Tensor]:
    return step.inputs if isinstance(step, Kernel) else step.reads


def _arrival(tensor: Tensor, maker: str | None, reader: str, kept: bool) -> str:
    name = tensor.storage.name
    if maker is None:
        return f"input {name}, as loaded"
    return f"output {name}, as {reader} finds it" if kept else f"input {name}, stored by {maker} and loaded here"


def _content(step: int, layer: str, what: str, address: int, moved: Load | Store, values: Values) -> Iterator[Check]:
    value = value_of(values, moved.tensor)
    if value is None:
        return
    part = tuple(slice(start, start + size) for start, size in zip(moved.box.start, moved.box.size, strict=True))
    made = content_of(value[part], step, layer, what, address, 0)
    if made.bytes and made.bytes == moved.local.spec.bytes:
        yield made


def _guards(plan: Plan, positions: Sequence[int]) -> Iterator[Check]:
    for block in plan.schedule.blocks:
        if not block.bytes:
            continue
        layer, address = plan.layers[block.layer].layer.name, aligned(block.offset + block.bytes, L1_ALIGNMENT)
        used = bisect_left(positions, block.first), bisect_right(positions, block.last)
        yield from guard_of(layer, block.name, address, 0, *used)


def source_file(name: str, checks: Sequence[Check], engines: Sequence[Codegen], show_layers: bool = False) -> str:
    """The table in C, and how to wait until no accelerator works; then layers may be shown."""
    lines = [f"/* What the debug build of {safe(name)} checks, and what it expects for the sample input. */"]
    headers = ["tvm_pulp/hal.h", "tvm_pulp_debug.h", *(["tvm_pulp_show_layers.h"] if show_layers else [])]
    headers += [codegen.header for codegen in engines]
    lines += [*(f'#include "{header}"' for header in headers), ""]
    lines += ["const struct tvm_pulp_check tvm_pulp_checks[] = {"]
    for check in checks:
        place = "0" if check.base else f"tvm_pulp_l1_arena + {check.address}"
        offset = check.address if check.base else 0
        lines.append(
            f"  {{{check.step}u, TVM_PULP_CHECK_{check.kind}, {place}, {check.base}u, {offset}u, {check.bytes}u, "
            f'0x{check.checksum:08x}u, "{safe(check.layer)}", "{safe(check.what)}"}},'
        )
    lines += ['  {0u, TVM_PULP_CHECK_END, 0, 0u, 0u, 0u, 0u, "", ""},', "};", ""]
    waits = [f"  {codegen.wait}();" for codegen in engines]
    waits += ["  tvm_pulp_show_layers();"] if show_layers else []
    lines += ["void tvm_pulp_debug_drain(void) {", *waits, "}", ""]
    return "\n".join(lines)


def runtime_files() -> dict[str, str]:
    """Files of the runtime that only a debug build has."""
    return {f"{_FOLDER}/{path}": text for path, text in texts_in(resources.files("c_runtime").joinpath(_FOLDER))}


def watched_executor(text: str) -> str:
    """The executor with a call before every step and one behind the last; other builds keep it as it is."""
    include = '#include "tvm_pulp/executor.h"\n'
    functions = text.split("\n}\n")
    loops, ends = ([len(pattern.findall(f)) for f in functions] for pattern in (_LOOP, _LOOP_END))
    if text.count(include) != 1 or max(loops) != 1 or loops != ends:
        raise UserError("--debug cannot watch the steps of this SoC's executor: drop it, or choose another --soc")
    watched = []
    for function in functions:
        told = _told(function)
        function = _LOOP.sub(rf"\g<0>    tvm_pulp_debug_step({told}, 0);\n", function)
        watched.append(_LOOP_END.sub(rf"\g<0>\n  tvm_pulp_debug_step({told}, 1);", function))
    return "\n}\n".join(watched).replace(include, f'{include}#include "tvm_pulp_debug.h"\n')


def _told(function: str) -> str:
    """The pointers of the caller for the one core that looks, 0 for the others."""
    if "*bases" not in function:
        return "0"
    return "core == 0u ? bases : 0" if "core = tvm_pulp_core_id()" in function else "bases"
