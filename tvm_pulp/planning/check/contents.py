"""Part of the verifier: what every byte holds when the program runs strictly in order."""

import numpy as np

from tvm_pulp.planning.program.actions import Access, Step, read_by
from tvm_pulp.planning.program.plan_record import PlanJson


class Contents:
    """Memories under execution: for every byte the number of its content, and the place inside it."""

    def __init__(self, plan: PlanJson) -> None:
        self._memories = {"L1": np.zeros((2, plan.l1_bytes), np.int32), "L2": np.zeros((2, plan.l2.size), np.int32)}
        self._numbers: dict[str, int] = {}
        self._bundles = {b.name: b for b in plan.bundles}
        made = {o.name: o.bytes for layer in plan.layers for o in layer.outputs}
        self._outputs = {name: made[name] for name in plan.outputs if made.get(name)}
        self._given = {*plan.inputs, *(c.name for c in plan.constants)}

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
            for access in action.writes:
                faults += self._write(where, action.do, access)
        return faults

    def _check(self, where: str, who: str, access: Access) -> list[str]:
        space = access.space
        if space in self._given:
            right = access.start == access.from_ and access.content == space
            return [] if right else [f"{where}: {who} expects byte {access.from_} of {access.content} at another"]
        memory, number = self._memories.get(space, np.zeros((2, 0), np.int32)), self._number(access.content)
        for start, size, place in self._runs(access):
            if start < 0 or start + size > memory.shape[1]:
                return [
                    f"{where}: {who} reads {space} up to byte {start + size}, of which only {memory.shape[1]} exist"
                ]
            owners, places = memory[:, start : start + size]
            right = (owners == number) & (places == np.arange(place, place + size, dtype=np.int32))
            if not right.all():
                first = int(np.argmin(right))
                found = next((name for name, n in self._numbers.items() if n == owners[first]), "nothing")
                return [f"{where}: {who} expects {access.content} at {space} byte {start + first} and finds {found}"]
        return []

    def _write(self, where: str, who: str, access: Access) -> list[str]:
        space = access.space
        if space not in ("L1", "L2"):
            known = self._memories.get(space, np.zeros((2, 0), np.int32))
            self._memories[space] = np.pad(known, ((0, 0), (0, max(0, access.end - known.shape[1]))))
        memory = self._memories[space]
        for start, size, place in self._runs(access):
            reach = max(size, access.reach or 0)
            if start < 0 or start + reach > memory.shape[1]:
                return [f"{where}: {who} writes {space} up to byte {start + reach}, beyond its {memory.shape[1]}"]
            memory[0, start : start + reach] = 0
            self._hold(memory, start, size, access.content, place)
            # A bundle's parts are contents of their own.
            for piece in self._bundles[access.content].pieces if access.content in self._bundles else ():
                first, last = max(piece.offset, place), min(piece.offset + piece.bytes, place + size)
                if first < last:
                    self._hold(memory, start + first - place, last - first, piece.content, first - piece.offset)
        return []

    def _hold(self, memory: np.ndarray, start: int, size: int, content: str, place: int) -> None:
        memory[0, start : start + size] = self._number(content)
        memory[1, start : start + size] = np.arange(place, place + size, dtype=np.int32)

    def end(self) -> list[str]:
        """Every output of the network is complete in its place."""
        faults = []
        for name, size in self._outputs.items():
            if name not in self._memories and name not in self._given:
                faults.append(f"output {name} is never written")
            else:
                faults += self._check("at the end", "the caller", Access(name, 0, size, name, 0))
        return faults
