"""Part of the verifier: what every byte holds when the program runs strictly in order."""

import numpy as np

from tvm_pulp.planning.program.actions import Access, Step, read_by, written_by
from tvm_pulp.planning.program.plan_record import PlanJson


class _Memory:
    """For every byte the number of its content and the place inside it."""

    def __init__(self, size: int) -> None:
        self.owner = np.zeros(size, np.int32)
        self.place = np.zeros(size, np.int32)

    def grow(self, size: int) -> None:
        if size > len(self.owner):
            more = size - len(self.owner)
            self.owner = np.concatenate([self.owner, np.zeros(more, np.int32)])
            self.place = np.concatenate([self.place, np.zeros(more, np.int32)])


class Contents:
    """Memories under execution."""

    def __init__(self, plan: PlanJson) -> None:
        self._memories: dict[str, _Memory] = {"L1": _Memory(plan.l1_bytes), "L2": _Memory(plan.l2.size)}
        self._numbers: dict[str, int] = {}
        self._bundles = {b.name: b for b in plan.bundles}
        self._outputs = {o.name: o.bytes for layer in plan.layers for o in layer.outputs}
        self._wanted = [name for name in plan.outputs if name in self._outputs]
        self._budget = plan.l1_bytes
        for name in plan.inputs:
            self._memory(name).grow(1)
            self._numbers.setdefault(name, len(self._numbers) + 1)
        self._given = set(plan.inputs)
        self._constants = {c.name for c in plan.constants}
        self._made: dict[str, int] = {}

    def _memory(self, space: str) -> _Memory:
        return self._memories.setdefault(space, _Memory(0))

    def _number(self, content: str) -> int:
        return self._numbers.setdefault(content, len(self._numbers) + 1)

    def _runs(self, access: Access) -> list[tuple[int, int, int]]:
        """Start, bytes and place in the content of each run."""
        size, start = access.bytes, access.start
        line, stride = access.line, access.stride
        if line is None or stride is None:
            return [(start, size, access.from_)]
        return [(start + i * stride, line, access.from_ + i * stride) for i in range(size // line)]

    def step(self, where: str, step: Step) -> list[str]:
        """Check what the step reads, then note what it writes; a record must lie where the step is read from."""
        faults = []
        if step.page is not None:
            faults += self._check(where, "its record", step.page.access)
        for action in step.actions:
            for access in read_by(action):
                faults += self._check(where, action.do, access)
            for access in written_by(action):
                faults += self._write(where, action.do, access)
        return faults

    def _check(self, where: str, who: str, access: Access) -> list[str]:
        space = access.space
        if space in self._given or space in self._constants:
            right = access.start == access.from_ and access.content == space
            return [] if right else [f"{where}: {who} expects byte {access.from_} of {access.content} at another"]
        memory, number = self._memory(space), self._number(access.content)
        for start, size, place in self._runs(access):
            if start < 0 or start + size > len(memory.owner):
                return [
                    f"{where}: {who} reads {space} up to byte {start + size}, of which only {len(memory.owner)} exist"
                ]
            owner = memory.owner[start : start + size]
            right = (owner == number) & (
                memory.place[start : start + size] == np.arange(place, place + size, dtype=np.int32)
            )
            if not right.all():
                first = int(np.argmin(right))
                found, at = self._name(owner[first]), f"{space} byte {start + first}"
                return [f"{where}: {who} expects {access.content} at {at} and finds {found}"]
        return []

    def _name(self, number: int) -> str:
        return next((name for name, n in self._numbers.items() if n == number), "nothing")

    def _write(self, where: str, who: str, access: Access) -> list[str]:
        space = access.space
        memory = self._memory(space)
        if space not in ("L1", "L2"):
            memory.grow(max(start + size for start, size, _ in self._runs(access)))
        for start, size, place in self._runs(access):
            reach = max(size, access.reach or 0)
            if start < 0 or start + reach > len(memory.owner):
                return [f"{where}: {who} writes {space} up to byte {start + reach}, beyond its {len(memory.owner)}"]
            memory.owner[start : start + reach] = 0
            memory.owner[start : start + size] = self._number(access.content)
            memory.place[start : start + size] = np.arange(place, place + size, dtype=np.int32)
            self._unpack(memory, access.content, start, size, place)
        return []

    def _unpack(self, memory: _Memory, content: str, start: int, size: int, place: int) -> None:
        """A bundle's parts are contents of their own."""
        for piece in self._bundles[content].pieces if content in self._bundles else ():
            first, last = max(piece.offset, place), min(piece.offset + piece.bytes, place + size)
            if first < last:
                at = start + first - place
                memory.owner[at : at + last - first] = self._number(piece.content)
                memory.place[at : at + last - first] = np.arange(
                    first - piece.offset, last - piece.offset, dtype=np.int32
                )

    def end(self) -> list[str]:
        """Every output of the network is complete in its place."""
        faults = []
        for name in self._wanted:
            access = Access(name, 0, self._outputs[name], name, 0)
            if name not in self._memories and self._outputs[name]:
                faults.append(f"output {name} is never written")
            elif self._outputs[name]:
                faults += self._check("at the end", "the caller", access)
        return faults
