"""The `run` function for a cluster in C, printed from the synchronised TIR main, and the program around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tvm_pulp.codegen import weights
from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.comment import safe
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.run_function import members, signature
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.plan import LayerPlan, Plan
from tvm_pulp.tir import insert_barriers as sync
from tvm_pulp.tir import tiled_main as tiled
from tvm_pulp.tir.tiled_main import TiledMain
from tvm_pulp.uma.backend import Codegen
from tvm_pulp.uma.recipe import Call, Job, Local, Pointer


class ClusterSource:
    """Prints `<name>_run.c` and `<name>_program.c`."""

    def __init__(
        self, plan: Plan, main: TiledMain, function: Any, kernels: Kernels, engines: Mapping[str, Codegen]
    ) -> None:
        self._plan, self._main, self._function, self._engines = plan, main, function, engines
        self._name = plan.network.name
        self._lines: list[str] = []
        self._layer: LayerPlan | None = None
        self._kernel_names = self._add_kernels(kernels)

    def _add_kernels(self, kernels: Kernels) -> list[str]:
        owner = {
            id(step): plan.layer.name for plan in self._plan.layers for tile in plan.tiles for step in tile.recipe.steps
        }
        return [kernels.add(k, owner[id(k)]).name for k in self._main.kernels]

    # --- run.c ------------------------------------------------------------------------------------------------

    def run_file(self) -> str:
        name, arena = self._name, self._plan.arena
        parts = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/hal.h"']
        for codegen in self._engines.values():
            parts += [f'#include "{codegen.header}"']
        if any(isinstance(step, Call) for step in self._main.described):
            parts += ['#include "tvm_pulp/kernels.h"']
        parts += [f'#include "{name}_kernels.h"', f'#include "{name}_weights.h"', ""]
        parts += ["#define L1(offset) ((void *)(tvm_pulp_l1_arena + (offset)))"]
        if arena.size:
            parts += [
                "#define L2(offset) ((void *)(arena + (offset)))",
                "",
                f"/* Activations; the largest set alive at once is {arena.largest_live_set} bytes. */",
                f"TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[{arena.size}];",
            ]
        parts += ["#define AT(pointer, offset) ((void *)((uintptr_t)(pointer) + (offset)))", ""]
        parts += self._descriptor_tables()
        self._statements(self._function.body)
        parts += [f"{signature(self._plan.network)} {{", *self._prologue(), *self._lines, "  return 0;", "}", ""]
        return "\n".join(parts)

    def _prologue(self) -> list[str]:
        network = self._plan.network
        text = "\n".join(self._lines)
        lines = ["  const int32_t core = (int32_t)tvm_pulp_core_id();"]
        if "cores)" in text:
            lines.append("  const int32_t cores = TVM_PULP_CORES;")
        if "dma = " in text:
            lines.append("  uint32_t dma;")
        declared: set[Tensor] = set()
        for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
            used = False
            for tensor, member in zip(tensors, members(tensors), strict=True):
                storage = tensor.storage
                if storage.name in self._main.pointers and storage not in declared:
                    declared.add(storage)
                    const = "const " if role == "inputs" else ""
                    lines.append(f"  {const}{c_type(storage.spec.dtype)} *{storage.name} = {role}->{member};")
                    used = True
            if not used:
                lines.append(f"  (void){role};")
        return lines

    def _descriptor_tables(self) -> list[str]:
        """Argument structures of all tiles as words; the DMA brings those of a tile into L1 before they are used."""
        lines: list[str] = []
        for number, tile in enumerate(self._main.tiles):

            def address(operand: Any, offsets: dict[Local, int] = tile.offsets) -> str:
                if isinstance(operand, Local):
                    return f"(uint32_t)tvm_pulp_l1_arena + {offsets[operand]}u"
                return f"(uint32_t){weights.symbol(self._name, operand)}"

            slots = tile.slots()
            words: list[str] = []
            for index, step in enumerate(tile.recipe.steps):
                if isinstance(step, Job):
                    slot = f"(uint32_t)tvm_pulp_l1_arena + {slots[index]}u"
                    words += self._engines[step.engine].job(step.description, slot, address)
                elif isinstance(step, Call):
                    words += [_word(w, address) for w in step.arguments]
            lines.append(f"static const uint32_t tile_{number}[{len(words)}] = {{")
            lines += [f"  {', '.join(words[i : i + 8])}," for i in range(0, len(words), 8)]
            lines.append("};")
        return [*lines, ""] if lines else []

    # --- statements -------------------------------------------------------------------------------------------

    def _emit(self, text: str, depth: int = 1) -> None:
        self._lines.append(f"{'  ' * depth}{text}" if text else "")

    def _statements(self, body: Any, depth: int = 1) -> None:
        for statement in body.seq if type(body).__name__ == "SeqStmt" else [body]:
            if type(statement).__name__ == "IfThenElse":
                self._emit("if (core == 0) {", depth)
                self._statements(statement.then_case, depth + 1)
                self._emit("}", depth)
            else:
                self._call(statement.value, depth)

    def _call(self, call: Any, depth: int) -> None:
        name, arguments = str(call.args[0].value), list(call.args[1:])
        printers: dict[str, Callable[[list[Any]], str]] = {
            sync.BARRIER: lambda _: "tvm_pulp_barrier();",
            sync.BEGIN: lambda _: "dma = tvm_pulp_dma_begin();",
            sync.WAIT_DMA: lambda _: "tvm_pulp_dma_wait(dma);",
            sync.WAIT_JOBS: lambda _: " ".join(f"{c.wait}();" for c in self._engines.values()),
            tiled.SUBMIT: self._submit,
            tiled.KERNEL: self._kernel,
            tiled.CALL: self._kernel_call,
            tiled.DESCRIPTORS: self._load_descriptors,
        }
        if name == tiled.LAYER:
            self._mark(int(arguments[0].value))
        elif name in printers:
            self._emit(printers[name](arguments), depth)
        else:
            self._emit(f"tvm_pulp_{name}({', '.join(self._place(a) for a in arguments)});", depth)

    def _place(self, argument: Any) -> str:
        if type(argument).__name__ == "IntImm":
            return str(int(argument.value))
        kind, *values = argument.args
        if str(kind.value) == tiled.AT:
            tensor = self._main.pointers[str(values[0].value)]
            base = weights.symbol(self._name, tensor) if tensor.kind == "constant" else tensor.name
            return f"AT({base}, {int(values[1].value)})"
        return f"{kind.value}({int(values[0].value)})"

    def _kernel(self, arguments: list[Any]) -> str:
        number = int(arguments[0].value)
        places = ", ".join(self._place(a) for a in arguments[1:])
        return f"{self._kernel_names[number]}({places}, core, cores);"

    def _load_descriptors(self, arguments: list[Any]) -> str:
        number, size = int(arguments[1].value), int(arguments[2].value)
        return f"tvm_pulp_dma_load({self._place(arguments[0])}, tile_{number}, {size});"

    def _submit(self, arguments: list[Any]) -> str:
        job = self._main.described[int(arguments[0].value)]
        assert isinstance(job, Job)
        codegen = self._engines[job.engine]
        return f"{codegen.submit}((const {codegen.job_type} *){self._place(arguments[1])});"

    def _kernel_call(self, arguments: list[Any]) -> str:
        step = self._main.described[int(arguments[0].value)]
        assert isinstance(step, Call)
        return (
            f"{step.function}((const {step.structure} *){self._place(arguments[1])}, (uint32_t)core, (uint32_t)cores);"
        )

    def _mark(self, index: int) -> None:
        self._emit("")
        if index < len(self._plan.layers):
            plan = self._plan.layers[index]
            layer, tiling = plan.layer, plan.tiling
            data = ", ".join(f"{t.name} {t.spec}" for t in layer.inputs if t.kind != "constant")
            made = ", ".join(f"{t.name} {t.spec}" for t in layer.outputs)
            tile = "x".join(map(str, tiling.size))
            self._emit(f"/* {safe(f'{layer.operator}: {data} -> {made}', 300)}")
            count = f"{len(plan.tiles)} tile{'s' if len(plan.tiles) > 1 else ''} of {tile}"
            self._emit(f" * {plan.engine}, {tiling.form.name}, {count}, about {tiling.cycles} cycles. */")
        self._emit(f"TVM_PULP_MARK({index});")

    # --- program.c --------------------------------------------------------------------------------------------

    def program_file(self) -> str:
        """Buffers for inputs and outputs, and the entry point the runtime calls."""
        name, network = self._name, self._plan.network
        lines = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/hal.h"', ""]
        for codegen in self._engines.values():
            lines += [f'#include "{codegen.header}"', ""]
        for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
            for tensor, member in zip(tensors, members(tensors), strict=True):
                size = max(1, tensor.spec.elements)
                kind = c_type(tensor.spec.dtype)
                lines.append(
                    f"TVM_PULP_IN_L2 __attribute__((aligned(16))) {kind} {buffer_symbol(name, role, member)}[{size}];"
                )
            lines.append("")
        lines += [
            f"const uint32_t tvm_pulp_mark_count = {len(self._plan.layers) + 1};",
            "",
            "void tvm_pulp_network(void) {",
        ]
        for role, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
            values = ", ".join(buffer_symbol(name, role, m) for m in members(tensors)) or "0"
            lines.append(f"  const struct tvmgen_{name}_{role} {role} = {{{values}}};")
        if self._engines:
            inits = " ".join(f"{c.init}();" for c in self._engines.values())
            lines.append(f"  if (tvm_pulp_core_id() == 0u) {{ {inits} }}")
        lines += [f"  (void)tvmgen_{name}_run(&inputs, &outputs);", "}", ""]
        return "\n".join(lines)


def _word(word: int | Pointer, address: Callable[[Any], str]) -> str:
    if isinstance(word, Pointer):
        return address(word.operand) + (f" + {word.offset}u" if word.offset else "")
    return f"{word % (1 << 32)}u"


def buffer_symbol(module: str, role: str, member: str) -> str:
    """C name of the buffer of an input or output."""
    return f"tvmgen_{module}_{role}_{member}"
