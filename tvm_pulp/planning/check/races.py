"""Part of the verifier: transfers, jobs and kernels that may be under way together never touch the same bytes.

A transfer or job is over for the agent that waited for it, and for all cores after the next barrier; a kernel is over
after the next barrier. Jobs of one engine end in order, and submitting one returns when all but as many as the engine's
queue holds are over; jobs of different engines run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm_pulp.planning.check.places import extent, read_by

Record = dict[str, Any]
_COUNTERS = 16
# Numbers that an agent can give its groups of transfers, and that jobs can have.
_GROUPS = 7
_TICKETS = 8
_ALL = "all cores"


@dataclass(eq=False)
class _Running:
    what: str
    agent: int | str
    accesses: list[tuple[Record, bool]]  # with: whether it writes
    key: Any
    engine: str = ""
    known: bool = False  # to its agent


def _mattering(access: Record, writes: bool) -> Record:
    """What an engine reads behind an operand does not matter to it; what it writes there matters to others."""
    return access if writes else {**access, "reach": 0}


def _meet(a: Record, b: Record) -> bool:
    if a["space"] != b["space"]:
        return False
    (s1, e1), (s2, e2) = extent(a), extent(b)
    if s1 >= e2 or s2 >= e1:
        return False
    if "line" in a and "line" in b and a["stride"] == b["stride"]:
        columns = {(a["start"] + i - b["start"]) % a["stride"] for i in (0, a["line"] - 1)}
        inside = any(c < b["line"] for c in columns)
        return inside or (b["start"] - a["start"]) % a["stride"] < a["line"]
    return True


def _key(wait: Record) -> Any:
    if "l3" in wait:
        return ("l3",)
    return ("ticket", wait["ticket"]) if "ticket" in wait else ("group", wait["agent"], wait["group"])


class Races:
    """What may be under way."""

    def __init__(self, plan: Record) -> None:
        self._running: list[_Running] = []
        self._open: dict[int, tuple[int, int]] = {}
        self._cores = plan["cores"]

    def synchronise(self, where: str, step: Record) -> list[str]:
        faults = []
        for wait in step["waits"]:
            key = _key(wait)
            found = [r for r in self._running if r.key == key and not r.known]
            if not found:
                faults.append(f"{where}: a wait for {key} which is not under way")
            for running in found:
                running.known = True
            if "ticket" in wait and found:
                self._end(found[-1].engine, before=found[-1])
        if step["barrier"]:
            self._running = [r for r in self._running if not r.known and r.what != "kernel"]
        return faults

    def _jobs(self, engine: str) -> list[_Running]:
        """Jobs of an engine that may be under way, in order."""
        return [r for r in self._running if r.what == "job" and r.engine == engine and not r.known]

    def _end(self, engine: str, *, before: _Running) -> None:
        for running in self._running[: self._running.index(before)]:
            if running.what == "job" and running.engine == engine:
                running.known = True

    def step(self, where: str, step: Record) -> list[str]:
        faults: list[str] = []
        page = step.get("page")
        if page is not None:
            record = {"space": "L1", "start": page["offset"], "bytes": page["bytes"]}
            faults += self._clash(where, "the record's read", _ALL, [(record, False)], "kernel")
        for action in step["actions"]:
            faults += _check_numbers(where, action)
            if action["do"] == "begin":
                self._open[action["agent"]] = (action["agent"], action["group"])
                if any(r.key == ("group", action["agent"], action["group"]) and not r.known for r in self._running):
                    faults.append(f"{where}: group {action['group']} of core {action['agent']} is still under way")
                continue
            accesses = [(a, False) for a in read_by(action)] + [(a, True) for a in action["writes"]]
            what: str
            agent: int | str
            key: Any
            engine = ""
            if action["do"] == "kernel":
                what, agent, key = "kernel", _ALL, None
            elif action["do"] == "job":
                what, agent, key, engine = "job", 0, ("ticket", action["ticket"]), action["engine"]
            elif action["do"] == "fetch":
                what, agent, key = "fetch", 0, ("l3",)
            else:
                what, agent = "transfer", action["agent"]
                key = ("group", *self._open[agent]) if agent in self._open else None
            faults += self._clash(where, action["do"], agent, accesses, what, engine)
            if what == "job":
                earlier = self._jobs(engine)
                for over in earlier[: max(0, len(earlier) + 1 - action["queue"])]:
                    over.known = True
                if any(r.key == key and not r.known for r in self._running):
                    faults.append(f"{where}: ticket {action['ticket']} belongs to a job that may be under way")
            if what == "job" and "descriptor" in action:
                # A core reads it to submit the job, and is done with it when the cores meet again.
                self._running.append(_Running("kernel", agent, [(action["descriptor"], False)], None))
                accesses = [a for a in accesses if a[0] is not action["descriptor"]]
            self._running.append(_Running(what, agent, accesses, key, engine))
        groups = {r.key for r in self._running if r.what == "transfer" and not r.known}
        if len(groups) > _COUNTERS:
            faults.append(f"{where}: {len(groups)} groups of transfers under way, the DMA has {_COUNTERS} counters")
        return faults

    def _clash(
        self,
        where: str,
        who: str,
        agent: int | str,
        accesses: list[tuple[Record, bool]],
        what: str,
        engine: str = "",
    ) -> list[str]:
        for running in self._running:
            if running.what == what and what in ("job", "fetch") and running.engine == engine:
                continue  # an accelerator and the I/O DMA work in order
            if running.known and running.agent == agent:
                continue
            for mine, i_write in accesses:
                for other, it_writes in running.accesses:
                    if (i_write or it_writes) and _meet(_mattering(mine, i_write), _mattering(other, it_writes)):
                        place = f"{mine['space']} byte {mine['start']}"
                        return [f"{where}: {who} touches {place} while a {running.what} may use it"]
        return []

    def end(self) -> list[str]:
        left = [r for r in self._running if r.what != "kernel" and not r.known]
        if left:
            return [f"{len(left)} transfers or jobs are never waited for"]
        return (
            ["the last barrier is missing: cores may still compute when the network returns"] if self._running else []
        )


def _check_numbers(where: str, action: Record) -> list[str]:
    if action["do"] == "begin" and not 0 <= action["group"] < _GROUPS:
        return [f"{where}: there is no group {action['group']} of transfers"]
    if action["do"] == "job" and not 0 <= action["ticket"] < _TICKETS:
        return [f"{where}: there is no ticket {action['ticket']}"]
    return []
