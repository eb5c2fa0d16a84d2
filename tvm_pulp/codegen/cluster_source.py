"""The `run` function for a cluster in C: step tables with their constants, and the entry."""

from collections.abc import Mapping, Sequence

from tvm_pulp.codegen import constant_checks
from tvm_pulp.codegen.bundle_source import BundleSource, layer_label
from tvm_pulp.codegen.caller_pointers import CLUSTER_ALIGNMENT, pointer_checks
from tvm_pulp.codegen.constant_checks import Checked
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.codegen.model_text import about_layer, safe
from tvm_pulp.codegen.run_function import ends, signature
from tvm_pulp.codegen.state_source import StateRows, fetched_inputs, state_declarations
from tvm_pulp.codegen.step_table import Record, StepTable, bundle_part
from tvm_pulp.codegen.table_addresses import TableAddresses
from tvm_pulp.planning.program.actions import Begin, WaitForL3, WaitForTransfers, actions_of
from tvm_pulp.planning.tiling.schedule.program import Slot
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.planning.tir.statements import FetchBytes, MoveBytes, SubmitJob
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.soc.kernel_sources import PREFIX, added_headers
from tvm_pulp.uma.backend import Codegen
from tvm_pulp.uma.recipe import Call, Job, Kernel


class ClusterSource:
    """Prints `<name>_run.c`."""

    def __init__(self, lowered: LoweredPlan, kernels: Kernels, engines: Mapping[str, Codegen]) -> None:
        tables = lowered.tables
        self._lowered, self._tables, self._plan, self._engines = lowered, tables, lowered.plan, engines
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
        # Of what comes from L3 the caller knows the place there.
        known = (t for t in used if t not in self._plan.arena.offsets)
        self.bases = {t: i for i, t in enumerate((*known, *fetched_inputs(self._plan)))}
        self._addresses = TableAddresses(tables, self.bases)
        self.bundles = BundleSource(lowered, self._addresses, engines)
        taken = {ticket for tickets in self._tickets().values() for ticket in tickets}
        self._rows = StateRows(self._addresses, lowered.program, taken)
        self._table = StepTable(lowered, self._addresses, self._rows, self._submit, self.bundles.member)

    def _submit(self, slot: int) -> str:
        """The driver's function that starts the job of a slot."""
        step = self._tables.slots[slot].step
        assert isinstance(step, Job)
        codegen = self._engines[step.engine]
        return codegen.submit_changed if slot in self._lowered.changed else codegen.submit

    def _function(self, record: Record) -> str:
        """Function of a record's call; empty where it has none."""
        if record.call is None:
            return ""
        slot = self._tables.slots[record.call.slot]
        return slot.step.function if isinstance(slot.step, Call) else self._thunk(slot)

    def _thunk(self, slot: Slot) -> str:
        """A generated kernel behind the executor's interface: its operands' addresses are the words of the argument."""
        assert isinstance(slot.step, Kernel)
        kernel, operands = self._kernels[slot.index], slot.step.operands
        arena = self._plan.arena.offsets
        tensors = {i: o.storage for i, o in enumerate(operands) if isinstance(o, Tensor)}
        outside = {i: t for i, t in tensors.items() if t in self.bases and t not in arena}
        name = f"call_{kernel.name}" + "".join(f"_{i}_{t.name}" for i, t in outside.items())
        if name not in self._thunks:
            types = [p.rsplit("restrict", 1)[0].strip() for p in kernel.parameters[: len(operands)]]
            sources = [
                f"bases[{self._addresses.base_name(outside[i])}]" if i in outside else f"words[{i}]"
                for i in range(len(types))
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

    # --- run.c ------------------------------------------------------------------------------------------------

    def run_file(self, debug: bool = False, checked: Sequence[Checked] | None = None) -> str:
        """The file; a debug build looks at the pointers of its caller. `checked`: constants that are compared."""
        name = self._name
        parts = [f'#include "tvmgen_{name}.h"', "", '#include "tvm_pulp/steps.h"']
        parts += ['#include "tvm_pulp_debug.h"'] if debug else []
        parts += [f'#include "tvm_pulp/{constant_checks.HEADER}"'] if checked else []
        parts += [f'#include "{codegen.header}"' for codegen in self._engines.values()]
        called = {s.step.function for s in self._tables.slots if isinstance(s.step, Call)}
        # Functions of a driver are declared in its header.
        if any(function.startswith(PREFIX) for function in called):
            parts += [f'#include "{header}"' for header in ("tvm_pulp/kernels.h", *added_headers(called))]
        parts += [f'#include "{name}_{part}.h"' for part in ("kernels", "weights", "bundle_weights")]
        tables = self.bundles.tables(self._table, self._function)
        parts += ["", *self._addresses.definitions()]
        parts += [*state_declarations(self._plan.network), *self._rows.definitions()]
        parts += [line for thunk in self._thunks.values() for line in thunk]
        parts += [*self._layer_comment(), *tables, *self._job_wait()]
        stem = f"TVMGEN_{name.upper()}"
        limit = f"{stem}_L1_BYTES"
        parts += [f'_Static_assert({limit} <= TVM_PULP_L1_ARENA_BYTES, "the network needs more L1 than is left");', ""]
        parts += [f"{signature(self._plan.network)} {{"]
        parts += pointer_checks(self._plan.network, CLUSTER_ALIGNMENT) if debug else []
        parts += [f"  if (!tvm_pulp_can_execute({limit})) return {stem}_WRONG_RUNTIME;"]
        parts += [*self._entry(), f"  return {stem}_OK;", "}", ""]
        parts += constant_checks.check_source(name, checked) if checked is not None else []
        return "\n".join(parts)

    def _layer_comment(self) -> list[str]:
        lines = ["/* Layers in order:"]
        for plan in self._plan.layers:
            layer, tiling = plan.layer, plan.tiling
            tile = "x".join(map(str, tiling.size))
            count = f"{len(plan.recipes)} tile{'s' if len(plan.recipes) > 1 else ''} of {tile}"
            lines.append(f" * {about_layer(layer)}")
            lines.append(f" *   {plan.engine}, {tiling.form.name}, {count}, about {plan.estimated_cycles} cycles")
        marks = [f"  {layer_label(plan.layer.name)}," for plan in self._plan.layers]
        about = "/* Marks of the layers: core 0 writes tvm_pulp_marks[layer_NAME] when one begins. */"
        return [*lines, " */", about, "enum {", *marks, "};", ""]

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
        for made in actions_of(self._lowered.program, SubmitJob):
            found.setdefault(made.engine, set()).add(made.ticket)
        return {engine: sorted(tickets) for engine, tickets in found.items()}

    def _entry(self) -> list[str]:
        network = self._plan.network
        if not self._table.records:
            return ["  (void)inputs;", "  (void)outputs;"]
        unused, lines = [], ["  if (tvm_pulp_is_agent()) {"]
        known: set[Tensor] = set()
        for role, tensors in ends(network).items():
            used = False
            for member, tensor in tensors.items():
                storage = tensor.storage
                if storage in self.bases and storage not in known:
                    known.add(storage)
                    lines.append(
                        f"    bases[{self._addresses.base_name(storage)}] = (uint32_t)(uintptr_t){role}->{member};"
                    )
                    used = True
            if not used:
                unused.append(f"  (void){role};")
        lines += [f"    {text}" for text in self._boot()]
        record = self._table.records[0]
        first = f"(const struct tvm_pulp_step *)POINTER(IN_BUNDLE({record.page.name}, {record.name}))"
        bases, wait = "bases" if self.bases else "0", "wait_for_job" if self._engines else "0"
        run = f"  tvm_pulp_execute({first}, {bases}, {wait});"
        return [*unused, *lines, "  }", "  tvm_pulp_barrier();", run]

    def _boot(self) -> list[str]:
        """The needs of the first step: its records, constants and inputs."""
        lines = []
        for made in self._table.boot:
            if isinstance(made, FetchBytes) and made.state:
                lines.append(f"(void)load_rows(&{self._rows.symbol(made)});")
            elif isinstance(made, FetchBytes):
                place = f"POINTER({self._addresses.fetched(made)})"
                lines.append(f"tvm_pulp_l3_load({place}, {made.offset}u, {made.bytes}u);")
            elif isinstance(made, WaitForL3):
                lines.append("tvm_pulp_l3_wait();")
            elif isinstance(made, Begin):
                lines.append("const uint32_t group = tvm_pulp_dma_begin();")
            elif isinstance(made, WaitForTransfers):
                lines.append("tvm_pulp_dma_wait(group);")
            elif isinstance(made, MoveBytes):
                lines.append(self._first_transfer(made))
        return lines

    def _first_transfer(self, made: MoveBytes) -> str:
        move, sizes = self._tables.moves[made.move], [made.bytes]
        local = f"POINTER({self._addresses.local(move, made.local)})"
        about = f" /* {safe(self._addresses.about(move))} */"
        if made.external is None:
            return f"tvm_pulp_dma_load({local}, {bundle_part(made)}, {sizes[0]});{about}"
        base, outside = self._addresses.base(made.external), self._addresses.outside(move, made.external)
        source = f"POINTER(bases[{base}] + {outside})" if base else f"POINTER({outside})"
        if made.line is not None and made.stride is not None:
            sizes += [made.line, made.stride]
        function = f"tvm_pulp_dma_{made.do}{'_2d' if len(sizes) > 1 else ''}"
        return f"{function}({local}, {source}, {', '.join(map(str, sizes))});{about}"
