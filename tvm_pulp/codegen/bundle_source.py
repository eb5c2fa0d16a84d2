"""Bundles in C: one structure each, with step records, commands, arguments and constants as named members."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.codegen.model_text import header_text, safe
from tvm_pulp.codegen.step_table import Record, StepTable
from tvm_pulp.codegen.table_addresses import TableAddresses, piece_member
from tvm_pulp.codegen.weights import section
from tvm_pulp.errors import UserError
from tvm_pulp.grouped import grouped
from tvm_pulp.planning.program.actions import WaitForJob, WaitForL3, WaitForTransfers
from tvm_pulp.planning.program.positions import computing_slot, next_slot
from tvm_pulp.planning.program.step_record import END_WORDS, RECORD_WORDS
from tvm_pulp.planning.tiling.schedule.lay_out import page_at
from tvm_pulp.planning.tiling.schedule.program import Bundle, Slot
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.backend import Codegen
from tvm_pulp.uma.recipe import Call, Job, Kernel, Pointer

_WIDTH = 118


@dataclass(frozen=True)
class Member:
    """A member of a bundle: declaration without its name's brackets, words, and lines of its initialiser."""

    kind: str
    name: str
    words: int
    value: list[str]
    is_array: bool = True

    @property
    def declaration(self) -> str:
        return f"{self.kind} {self.name}{f'[{self.words}]' if self.is_array else ''};"


class BundleSource:
    """Prints the bundles of a plan."""

    def __init__(
        self,
        lowered: LoweredPlan,
        addresses: TableAddresses,
        engines: Mapping[str, Codegen],
    ) -> None:
        self._plan, self._slots, self._changed = lowered.plan, lowered.plan.schedule.slots, lowered.changed
        self._addresses, self._engines = addresses, engines
        self._constants: list[str] = []

    def member(self, slot: int) -> str:
        """Name of the member that holds what a step's kernel or job is told."""
        step = self._slots[slot].step
        role = "operands" if isinstance(step, Kernel) else "arguments" if isinstance(step, Call) else "job"
        return f"{role}_{slot}"

    def tables(self, table: StepTable, function: Callable[[Record], str]) -> list[str]:
        """Declarations and definitions of all bundles. `function` names what a record calls."""
        records = grouped((record.page, record) for record in table.records)
        kinds: list[str] = []
        objects: list[str] = []
        declared: list[str] = []
        for bundle in self._plan.schedule.bundles:
            layout = self._members(bundle, records.get(bundle, []), function)
            if not layout:
                continue
            layer = self._plan.layers[bundle.layer].layer
            name, about = bundle.name, safe(layer.name)
            kinds += [f"struct {name} {{ /* {about} */", *(f"  {m.declaration}" for m in layout), "};"]
            kinds += [f'_Static_assert(sizeof(struct {name}) == {bundle.bytes}, "as planned");', ""]
            place = section(bundle.level)
            declared.append(f"{place}static const struct {name} {name};")
            aligned = f"{place}__attribute__((aligned(16)))"
            objects += [
                f"/* --- {about} */",
                f"{aligned} static const struct {name} {name} = {{",
            ]
            objects += [line for m in layout for line in m.value]
            objects += ["};", ""]
        return [*kinds, *declared, "", *objects]

    # --- members ----------------------------------------------------------------------------------------------

    def _members(self, bundle: Bundle, records: list[Record], function: Callable[[Record], str]) -> list[Member]:
        members: list[Member] = []

        def fill(to: int) -> None:
            """Bytes that nobody uses."""
            gap = to // 4 - sum(m.words for m in members)
            if gap < 0:
                # Planned programs have room for all that they issue.
                raise UserError(
                    f"a TIR pass added commands for which {bundle.name} has no room in its {bundle.record_bytes} bytes "
                    "of step records: let it change or drop commands, not add any"
                )
            if gap:
                members.append(Member("uint32_t", f"unused_{len(members)}", gap, []))

        for record in records:
            members.append(self._record(record, function(record)))
            members += [self._commands(*entry) for entry in record.lists()]
        fill(bundle.record_bytes)
        for slot in bundle.descriptors:
            members.append(self._descriptor(self._slots[slot]))
        for number, piece in enumerate(bundle.pieces):
            fill(piece.offset)
            members.append(self._piece(bundle, number, piece.tensor, piece.box))
        return members

    def _record(self, record: Record, function: str) -> Member:
        page, following = self._addresses.page(record.page), record.following
        lines = [f"  /* Step {record.number}: {safe(self._about(record), 300)} */", f"  .{record.name} = {{"]
        if record.call is not None:
            lines.append(f"    KERNEL({function}, {page}, {self.member(record.call.slot)}),")
        if record.commands:
            lists = " | ".join(f"COMMANDS({page}, {record.number}, {agent})" for _, agent, _ in record.lists())
            lines.append(f"    .commands = {lists},")
        transfers = {(w.agent, w.group) for w in following.waits if isinstance(w, WaitForTransfers)}
        waits = [f"WAIT_TRANSFERS({agent}, {group})" for agent, group in sorted(transfers)]
        waits += ["WAIT_L3" for w in following.waits if isinstance(w, WaitForL3)]
        if waits:
            lines.append(f"    .waits = {' | '.join(waits)},")
        meeting = "BARRIER" if following.team is None else f"MEET({following.team})"
        control = [meeting] if following.barrier else []
        control += [f"TEAM({record.call.team})"] if record.call is not None and record.call.team is not None else []
        control += [f"WAIT_JOB({w.ticket})" for w in following.waits if isinstance(w, WaitForJob)]
        if record.mark is not None:
            layers = self._plan.layers
            layer = layer_label(layers[record.mark].layer.name) if record.mark < len(layers) else str(record.mark)
            control.append(f"LAYER({layer})")
        if control:
            lines.append(f"    .control = {' | '.join(control)},")
        if following.position is not None:
            after = page_at(following.position, self._plan.schedule.pages)
            lines.append(f"    NEXT({after.name}, step_{record.number + 1}),")
        return Member("struct tvm_pulp_step", record.name, RECORD_WORDS, [*lines, "  },"], is_array=False)

    def _about(self, record: Record) -> str:
        """Which part of which layer a step computes."""
        if next_slot(record.position) >= len(self._slots):
            return "the end"
        slot = computing_slot(record.position)
        if slot is None:
            return "transfers that nothing overlaps"
        found = self._slots[slot]
        layer = self._plan.layers[found.layer]
        text = f"{layer.layer.operator} {layer.layer.name}, {layer.engine}, {layer.tiling.form.name}"
        return text + (f", tile {found.tile + 1} of {len(layer.recipes)}" if len(layer.recipes) > 1 else "")

    def _commands(self, name: str, _agent: int, commands: list[Any]) -> Member:
        lines = [f"  .{name} = {{", *(f"    {c.line}" for c in commands), "    END,", "  },"]
        return Member("uint32_t", name, sum(c.words for c in commands) + END_WORDS, lines)

    def _descriptor(self, slot: Slot) -> Member:
        """The words that a step's kernel or job is told."""
        step, name = slot.step, self.member(slot.index)
        if isinstance(step, Kernel):
            words = [f"    {self._addresses.operand(slot, o)}, /* {safe(o.name)} */" for o in step.operands]
            return Member("uint32_t", name, len(words), [f"  .{name} = {{", *words, "  },"])
        if isinstance(step, Call):
            pairs = zip(step.fields, step.arguments, strict=True)
            lines = _filled([f".{field} = {self._argument(slot, value)}" for field, value in pairs])
            return Member(step.structure, name, step.words, [f"  .{name} = {{", *lines, "  },"], is_array=False)
        return self._job(slot, step)

    def _job(self, slot: Slot, step: Job) -> Member:
        """The words or the structure that an engine is told: everything, or only what changes in the place of that."""
        codegen, name = self._engines[step.engine], self.member(slot.index)
        structure, address = codegen.job_structure, partial(self._addresses.operand, slot)
        made: list[str] | dict[str, str]
        if slot.index in self._changed:
            assert codegen.changed_job is not None
            structure = codegen.changed_structure
            made = codegen.changed_job(step.description, self._changed[slot.index], address)
        else:
            page = self._plan.schedule.pages[slot.index]
            made = codegen.job(step.description, f"IN_BUNDLE({page.name}, {name})", address)
        # Configuration words have their fields beside them.
        fields = codegen.word_fields(step.description) if codegen.word_fields is not None else {}
        if isinstance(made, Mapping):
            texts = [f".{member} = {text}" for member, text in made.items()]
            about = [next((fields[w] for w in re.findall(r"\w+", text) if w in fields), "") for text in texts]
        else:
            texts, structure = made, ""
            about = [fields.get(str(number), "") for number in range(len(texts))]
        lines = _filled([_with_comment(*entry) for entry in zip(texts, about, strict=True)])
        words = step.words if structure else len(texts)
        initialiser = [f"  .{name} = {{", *lines, "  },"]
        return Member(structure or "uint32_t", name, words, initialiser, is_array=not structure)

    def _argument(self, slot: Slot, value: int | Pointer) -> str:
        if isinstance(value, Pointer):
            if isinstance(value.operand, Tensor):
                place = self._addresses.operand(slot, value.operand)
                return f"POINTER({place} + {value.offset}u)" if value.offset else f"POINTER({place})"
            return f"POINTER({self._addresses.at(slot.places[value.operand], value.offset)})"
        return _number(int(value) - (1 << 32) if value >= 1 << 31 else int(value))

    def _piece(self, bundle: Bundle, number: int, tensor: Tensor, box: Any) -> Member:
        """Part of a constant; its values stand in a file of their own."""
        name = piece_member(bundle, number)
        macro = f"{bundle.name}_{name}".upper()
        words = _data_words(tensor, box)
        self._constants.append(f"#define {macro} \\\n" + " \\\n".join(_filled(words, "  "))[:-1])
        about = f"{tensor.spec}" if box.size == tuple(tensor.spec.shape) else f"{box} of {tensor.spec}"
        return Member("uint32_t", name, len(words), [f"  .{name} = {{{macro}}}, /* {safe(about)} */"])

    def weights_file(self) -> str:
        """Constants inside the bundles; `tables` has been called."""
        module = self._plan.network.name
        about = f"/* Constants inside the bundles of {module}_run.c, as words. */"
        return header_text([about], f"{module}_BUNDLE_WEIGHTS", self._constants)


def layer_label(name: str) -> str:
    """The name of a layer's mark."""
    return f"layer_{name}"


def _number(value: int) -> str:
    """A word with its sign; of the smallest, C has no literal."""
    return "(-2147483647 - 1)" if value == -(1 << 31) else str(value)


def _with_comment(text: str, about: str) -> str:
    return f"{text} /* {safe(about, 200)} */" if about else text


def _filled(texts: list[str], indent: str = "    ") -> list[str]:
    """Initialisers in lines, each with a comma behind it."""
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) + 2 <= _WIDTH:
            lines[-1] += f" {text},"
        else:
            lines.append(f"{indent}{text},")
    return lines


def _data_words(tensor: Tensor, box: Any) -> list[str]:
    """A part of a constant as little-endian words, padded with zeros."""
    data = tensor.data if tensor.data is not None else tensor.storage.data
    assert data is not None
    shaped = data.reshape(tensor.spec.shape)
    part = shaped[tuple(slice(a, a + n) for a, n in zip(box.start, box.size, strict=True))]
    raw = np.ascontiguousarray(part).tobytes()
    raw += bytes(-len(raw) % 4)
    # Integers of a word print with their sign; smaller ones are packed.
    signed = part.dtype == np.int32
    return [_number(w) if signed else f"{w}u" for w in np.frombuffer(raw, "<i4" if signed else "<u4").tolist()]
