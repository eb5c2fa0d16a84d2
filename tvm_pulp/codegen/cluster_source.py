"""The `run` function for a cluster in C: step records and constants as tables, and the entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tvm_pulp.codegen import weights
from tvm_pulp.codegen.comment import safe
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.run_function import members, signature
from tvm_pulp.codegen.step_table import Record, TableBuilder, record_words
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.schedule.schedule import Bundle, Slot
from tvm_pulp.tir import statements as tir
from tvm_pulp.tir.statements import integer, statement_name
from tvm_pulp.tir.tables import Tables
from tvm_pulp.uma.backend import Codegen
from tvm_pulp.uma.recipe import Call, Job, Kernel, Local, Pointer

# Macros of the emitted file: the address of an offset.
_L1, _L2 = "L1", "L2"
_WORDS_PER_LINE = 12


class ClusterSource:
    """Prints `<name>_run.c`."""

    def __init__(self, tables: Tables, function: Any, kernels: Kernels, engines: Mapping[str, Codegen]) -> None:
        self._tables, self._plan, self._engines, self._main = tables, tables.plan, engines, function
        self._name = self._plan.network.name
        self._thunks: dict[str, list[str]] = {}
        self._kernels = {
            s.index: kernels.add(s.step, self._plan.layers[s.layer].layer.name)
            for s in tables.slots
            if isinstance(s.step, Kernel)
        }
        # Pointers that only the caller knows, numbered.
        direct = {
            t.storage.name
            for s in tables.slots
            if isinstance(s.step, Kernel)
            for t in s.step.operands
            if isinstance(t, Tensor)
        }
        outside = (*self._plan.network.inputs, *(t.storage for t in self._plan.network.outputs))
        used = [
            t
            for t in dict.fromkeys(outside)
            if t.kind != "constant" and (t.name in tables.pointers or t.name in direct)
        ]
        self._bases = {t: i for i, t in enumerate(t for t in used if t not in self._plan.arena.offsets)}
        self._table = TableBuilder(tables, self._address, self._base, self._submit).build(function)
        self._page_at = {m.source: m.place.address for m in tables.moves if isinstance(m.source, Bundle)}
        self._places = self._lay_records()
        self._bundle_constants: list[str] = []

    @property
    def bases(self) -> Mapping[Tensor, int]:
        """Numbers of the pointers that only the caller knows, by what they point to."""
        return self._bases

    # --- expressions -----------------------------------------------------------------------------------------

    def _address(self, place: Any) -> str:
        kind, *values = place.args
        if str(kind.value) != tir.AT:
            return _at(_L1 if str(kind.value) == tir.L1 else _L2, int(values[0].value))
        tensor, offset = self._tables.pointers[str(values[0].value)], int(values[1].value)
        if tensor in self._bases:
            return f"{offset}u"
        return _at(f"(uint32_t){weights.symbol(self._name, tensor)}", offset)

    def _base(self, place: Any) -> int:
        """Number of the pointer that a place counts from, plus one; 0 for a fixed address."""
        kind, *values = place.args
        if str(kind.value) != tir.AT:
            return 0
        return self._bases.get(self._tables.pointers[str(values[0].value)], -1) + 1

    def _submit(self, made: Any) -> str:
        step = self._tables.slots[integer(made, 1)].step
        assert isinstance(step, Job)
        return f"(uint32_t){self._engines[step.engine].submit}"

    def _operand(self, slot: Slot, operand: Local | Tensor) -> str:
        if isinstance(operand, Local):
            return _at(_L1, slot.places[operand].address)
        storage = operand.storage
        if storage in self._plan.arena.offsets:
            return _at(_L2, self._plan.arena.offsets[storage])
        return "0u" if storage in self._bases else f"(uint32_t){weights.symbol(self._name, storage)}"

    # --- records and bundles ---------------------------------------------------------------------------------

    def _lay_records(self) -> list[int]:
        """L1 offset of every record."""
        filled: dict[Bundle, int] = {}
        places = []
        for record in self._table.records:
            offset = filled.get(record.page, 0)
            places.append(self._page_at[record.page] + offset)
            filled[record.page] = offset + record.bytes
            if filled[record.page] > record.page.record_bytes:
                raise RuntimeError(f"records of {record.page.name} outgrow their {record.page.record_bytes} bytes")
        return places

    def _descriptor(self, slot: Slot) -> list[str]:
        step = slot.step
        if isinstance(step, Kernel):
            return [self._operand(slot, o) for o in step.operands]
        if isinstance(step, Call):
            return [self._argument(slot, w) for w in step.arguments]
        page = self._plan.schedule.pages[slot.index]
        own = _at(_L1, self._page_at[page] + page.descriptors[slot.index])
        return self._engines[step.engine].job(step.description, own, lambda o: self._operand(slot, o))

    def _argument(self, slot: Slot, word: int | Pointer) -> str:
        if isinstance(word, Pointer):
            return self._operand(slot, word.operand) + (f" + {word.offset}u" if word.offset else "")
        return f"{word % (1 << 32)}u"

    def _function(self, record: Record) -> tuple[str, str]:
        """Function and arguments of a record's call."""
        if record.call is None:
            return "0u", "0u"
        slot = self._tables.slots[integer(record.call, 1)]
        name = slot.step.function if isinstance(slot.step, Call) else self._thunk(slot)
        return f"(uint32_t){name}", self._address(record.call.value.args[3])

    def _thunk(self, slot: Slot) -> str:
        """A generated kernel behind the executor's interface: its operands' addresses are the words of the argument."""
        assert isinstance(slot.step, Kernel)
        kernel, operands = self._kernels[slot.index], slot.step.operands
        outside = {i: o.storage for i, o in enumerate(operands) if isinstance(o, Tensor) and o.storage in self._bases}
        name = f"call_{kernel.name}" + "".join(f"_{i}_{t.name}" for i, t in outside.items())
        if name not in self._thunks:
            types = [p.rsplit("restrict", 1)[0].strip() for p in kernel.parameters[: len(operands)]]
            sources = [
                f"bases[{self._bases[outside[i]]}]" if i in outside else f"words[{i}]" for i in range(len(types))
            ]
            values = [f"({kind})(uintptr_t){source}" for kind, source in zip(types, sources, strict=True)]
            reads = len(outside) < len(types)
            self._thunks[name] = [
                f"static void {name}(const void *arguments, uint32_t core, uint32_t cores) {{",
                "  const uint32_t *words = arguments;" if reads else "  (void)arguments;",
                f"  {kernel.name}({', '.join([*values, '(int32_t)core', '(int32_t)cores'])});",
                "}",
                "",
            ]
        return name

    def _bundle_tables(self) -> list[str]:
        records: dict[Bundle, list[str]] = {}
        for number, record in enumerate(self._table.records):
            after = _at(_L1, self._places[number + 1]) if number + 1 < len(self._places) else "0u"
            records.setdefault(record.page, []).extend(record_words(record, *self._function(record), after))
        declared: list[str] = []
        lines: list[str] = []
        for bundle in self._plan.schedule.bundles:
            words = records.get(bundle, [])
            words = [*words, *["0u"] * (bundle.record_bytes // 4 - len(words))]
            for slot in bundle.descriptors:
                words += self._descriptor(self._tables.slots[slot])
            constants: list[str] = []
            for piece in bundle.pieces:
                constants += ["0u"] * (piece.offset // 4 - len(words) - len(constants))
                constants += _data_words(piece.tensor, piece.box)
            count = len(words) + len(constants)
            if not count:
                continue
            assert 4 * count == bundle.bytes, (bundle, count)
            lines.append(f"/* {safe(self._plan.layers[bundle.layer].layer.name)} */")
            declared.append(f"static const uint32_t {bundle.name}[{count}];")
            lines.append(f"__attribute__((aligned(16))) static const uint32_t {bundle.name}[{count}] = {{")
            lines += [f"  {row}," for row in _rows(words)]
            if constants:
                macro = f"{bundle.name.upper()}_CONSTANTS"
                lines.append(f"  {macro},")
                self._bundle_constants.append(f"#define {macro} \\\n  " + ", \\\n  ".join(_rows(constants)))
            lines += ["};", ""]
        return [*declared, "", *lines]

    def bundle_weights_file(self) -> str:
        """Constants inside the bundles; `run_file` has been called."""
        guard = f"TVMGEN_{self._name.upper()}_BUNDLE_WEIGHTS_H"
        parts = [f"/* Constants inside the bundles of {self._name}_run.c, as words. */"]
        parts += [f"#ifndef {guard}", f"#define {guard}", "", *self._bundle_constants, "", f"#endif /* {guard} */", ""]
        return "\n".join(parts)

    # --- run.c ------------------------------------------------------------------------------------------------

    def run_file(self) -> str:
        name, arena = self._name, self._plan.arena
        parts = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/executor.h"']
        parts += [f'#include "{codegen.header}"' for codegen in self._engines.values()]
        if any(isinstance(s.step, Call) for s in self._tables.slots):
            parts += ['#include "tvm_pulp/kernels.h"']
        parts += [
            f'#include "{name}_kernels.h"',
            f'#include "{name}_weights.h"',
            f'#include "{name}_bundle_weights.h"',
            "",
        ]
        parts += ["#define L1(offset) ((uint32_t)tvm_pulp_l1_arena + (offset))"]
        if arena.size:
            parts += [
                "#define L2(offset) ((uint32_t)arena + (offset))",
                "",
                f"/* Activations; the largest set alive at once is {arena.largest_live_set} bytes. */",
                f"TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[{arena.size}];",
            ]
        if self._bases:
            parts += ["/* Where the caller keeps inputs and outputs. */"]
            parts += [f"TVM_PULP_IN_L2 static uint32_t bases[{len(self._bases)}];"]
        tables = self._bundle_tables()
        parts += ["", *(line for thunk in self._thunks.values() for line in thunk)]
        parts += [*self._layer_comment(), *tables, *self._job_wait()]
        parts += [f"{signature(self._plan.network)} {{", *self._entry(), "  return 0;", "}", ""]
        return "\n".join(parts)

    def _layer_comment(self) -> list[str]:
        lines = ["/* Layers in order:"]
        for plan in self._plan.layers:
            layer, tiling = plan.layer, plan.tiling
            data = ", ".join(f"{t.name} {t.spec}" for t in layer.inputs if t.kind != "constant")
            made = ", ".join(f"{t.name} {t.spec}" for t in layer.outputs)
            tile = "x".join(map(str, tiling.size))
            count = f"{len(plan.recipes)} tile{'s' if len(plan.recipes) > 1 else ''} of {tile}"
            lines.append(f" * {safe(f'{layer.operator}: {data} -> {made}', 300)}")
            lines.append(f" *   {plan.engine}, {tiling.form.name}, {count}, about {plan.estimated_cycles} cycles")
        return [*lines, " */", ""]

    def _job_wait(self) -> list[str]:
        """A function that waits for a job with a ticket's number: every engine has tickets of its own."""
        if not self._engines:
            return []
        engines = list(self._tickets().items())
        # Without a job, nobody calls it.
        engines = engines or [(next(iter(self._engines)), [0])]
        lines = ["static void wait_for_job(uint32_t submitted, uint32_t number) {"]
        if not any(self._engines[engine].wait_job for engine, _ in engines):
            lines.append("  (void)submitted;")
        if len(engines) == 1:
            lines.append("  (void)number;")
        for index, (engine, tickets) in enumerate(engines):
            codegen = self._engines[engine]
            wait = f"{codegen.wait_job}(submitted);" if codegen.wait_job else f"{codegen.wait}();"
            if index == len(engines) - 1:
                lines.append(f"  {wait}")
            else:
                lines += [
                    f"  if ({' || '.join(f'number == {t}u' for t in tickets)}) {{",
                    f"    {wait}",
                    "    return;",
                    "  }",
                ]
        return [*lines, "}", ""]

    def _tickets(self) -> dict[str, list[int]]:
        """Tickets that jobs of each engine have."""
        found: dict[str, set[int]] = {}
        for made in self._main.body.seq:
            if statement_name(made) == tir.SUBMIT:
                step = self._tables.slots[integer(made, 1)].step
                assert isinstance(step, Job)
                found.setdefault(step.engine, set()).add(integer(made, 3))
        return {engine: sorted(tickets) for engine, tickets in found.items()}

    def _entry(self) -> list[str]:
        network = self._plan.network
        if not self._table.records:
            return ["  (void)inputs;", "  (void)outputs;"]
        unused, lines = [], ["  if (tvm_pulp_core_id() == 0u) {"]
        known: set[Tensor] = set()
        for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
            used = False
            for tensor, member in zip(tensors, members(tensors), strict=True):
                storage = tensor.storage
                if storage in self._bases and storage not in known:
                    known.add(storage)
                    lines.append(f"    bases[{self._bases[storage]}] = (uint32_t)(uintptr_t){role}->{member};")
                    used = True
            if not used:
                unused.append(f"  (void){role};")
        lines += [f"    {text}" for text in self._boot()]
        first = f"(const struct tvm_pulp_step *)(const void *)(tvm_pulp_l1_arena + {self._places[0]})"
        bases, wait = "bases" if self._bases else "0", "wait_for_job" if self._engines else "0"
        run = f"  tvm_pulp_execute({first}, {bases}, {wait});"
        return [*unused, *lines, "  }", "  tvm_pulp_barrier();", run]

    def _boot(self) -> list[str]:
        """What the first step needs: its records, constants and inputs."""
        lines = []
        for made in self._table.boot:
            name, arguments = statement_name(made), made.value.args[4:]
            if name == tir.FETCH:
                place = f"(void *)(uintptr_t)({self._address(made.value.args[2])})"
                lines.append(f"tvm_pulp_l3_load({place}, {integer(made, 2)}u, {integer(made, 3)}u);")
            elif name == tir.WAIT_L3:
                lines.append("tvm_pulp_l3_wait();")
            elif name == tir.BEGIN:
                lines.append("const uint32_t group = tvm_pulp_dma_begin();")
            elif name == tir.WAIT_DMA:
                lines.append("tvm_pulp_dma_wait(group);")
            elif name == tir.BUNDLE:
                local, number, offset, size = arguments
                source = f"(const uint8_t *)bundle_{int(number.value)} + {int(offset.value)}"
                lines.append(f"tvm_pulp_dma_load({self._pointer(local)}, {source}, {int(size.value)});")
            elif name.startswith("dma_"):
                target, source, *sizes = arguments
                more = ", ".join(str(int(s.value)) for s in sizes)
                lines.append(f"tvm_pulp_{name}({self._pointer(target)}, {self._pointer(source)}, {more});")
        return lines

    def _pointer(self, place: Any) -> str:
        base = self._base(place)
        text = f"bases[{base - 1}] + {self._address(place)}" if base else self._address(place)
        return f"(void *)(uintptr_t)({text})"


def _rows(words: list[str]) -> list[str]:
    """Words in lines."""
    return [", ".join(words[i : i + _WORDS_PER_LINE]) for i in range(0, len(words), _WORDS_PER_LINE)]


def _at(base: str, offset: int) -> str:
    if base in (_L1, _L2):
        return f"{base}({offset}u)"
    return f"{base} + {offset}u" if offset else base


def _data_words(tensor: Tensor, box: Any) -> list[str]:
    """A part of a constant as little-endian words, padded with zeros."""
    data = tensor.data if tensor.data is not None else tensor.storage.data
    assert data is not None
    shaped = data.reshape(tensor.spec.shape)
    part = shaped[tuple(slice(a, a + n) for a, n in zip(box.start, box.size, strict=True))]
    raw = np.ascontiguousarray(part).tobytes()
    raw += bytes(-len(raw) % 4)
    return [f"{w}u" for w in np.frombuffer(raw, "<u4").tolist()]
