"""Answers to a debugger's packets; its wishes about the run come out as actions."""

import enum
import struct
from collections.abc import Callable

from tvm_pulp.sim.iss.gdb import description
from tvm_pulp.sim.iss.gdb.control import ENDED, FAULTED, READ, WRITE, Control
from tvm_pulp.sim.iss.gdb.packets import LARGEST
from tvm_pulp.soc.description import Soc

_FEATURES = (
    f"PacketSize={LARGEST:x};qXfer:features:read+;qXfer:threads:read+;qXfer:memory-map:read+;vContSupported+;"
    "swbreak+;hwbreak+;QStartNoAckMode+"
)
_WATCHES = {"2": WRITE, "3": READ, "4": READ | WRITE}
_TRAP, _INTERRUPT, _SEGMENT = 5, 2, 11
_OK, _ERROR, _UNKNOWN = b"OK", b"E01", b""


class Action(enum.Enum):
    """The fate of the run after a packet."""

    NONE = enum.auto()
    RUN = enum.auto()
    DETACH = enum.auto()
    KILL = enum.auto()


class Session:
    """One debugger's view of the machine. Threads are cores plus one: number 0 means any."""

    def __init__(self, control: Control, soc: Soc) -> None:
        self._control, self._soc = control, soc
        self._registers = description.registers(soc)
        self._breaks: set[int] = set()
        self._lifted: set[int] = set()
        self._watches: list[tuple[int, int, int]] = []
        self._thread = self._stopped_thread = control.cores
        self._stop_reply = b"T%02xthread:%x;" % (_TRAP, control.cores)
        self._faults = 0

    @property
    def faulted_twice(self) -> bool:
        """Tell if the debugger went on after a fault, which ends the run."""
        return self._faults > 1

    def forget(self) -> None:
        """Nothing stops the run any more."""
        self._control.set_breaks(set())
        for watch in self._watches:
            self._control.ask("unwatch", *watch)
        self._watches = []

    def answer(self, packet: bytes) -> tuple[bytes, Action]:
        """The reply, and the fate of the run; a run's reply comes from `stopped`."""
        text = packet.decode("latin-1")
        try:
            return self._answer(text, packet)
        except (ValueError, IndexError, TypeError, struct.error):
            return _ERROR, Action.NONE

    def _answer(self, text: str, packet: bytes) -> tuple[bytes, Action]:
        kind = text[:1]
        if not kind:
            return _UNKNOWN, Action.NONE
        if kind in "csCS":
            return self._resume([("s" if kind in "sS" else "c", None)])
        if text.startswith("vCont;"):
            return self._resume([_action(part) for part in text[6:].split(";")])
        if kind == "k" or text.startswith("vKill"):
            return _OK, Action.KILL
        if kind == "D":
            return _OK, Action.DETACH
        look = _LOOKS.get(kind)
        return _UNKNOWN if look is None else look(self, text, packet), Action.NONE

    # Registers and memory.

    def _get(self, number: int) -> bytes:
        if number >= len(self._registers):
            return _ERROR
        value = self._control.ask("get_register", self._thread - 1, self._registers[number].number)
        return struct.pack("<I", value).hex().encode()

    def _set(self, number: int, value: int) -> bool:
        return not self._control.ask("set_register", self._thread - 1, self._registers[number].number, value)

    def why_stopped(self, _text: str, _packet: bytes) -> bytes:
        """The reply of the last stop, once more."""
        return self._stop_reply

    def get_all(self, _text: str, _packet: bytes) -> bytes:
        """All registers of the selected core."""
        return b"".join(map(self._get, range(len(self._registers))))

    def set_all(self, text: str, _packet: bytes) -> bytes:
        """Change those of all registers that differ."""
        for number, (value,) in enumerate(struct.iter_unpack("<I", bytes.fromhex(text[1:]))):
            if self._get(number) != struct.pack("<I", value).hex().encode():
                self._set(number, value)
        return _OK

    def get_one(self, text: str, _packet: bytes) -> bytes:
        """One register."""
        return self._get(int(text[1:], 16))

    def set_one(self, text: str, _packet: bytes) -> bytes:
        """Change one register."""
        number, value = text[1:].split("=")
        return _OK if self._set(int(number, 16), *struct.unpack("<I", bytes.fromhex(value))) else _ERROR

    def memory(self, text: str, packet: bytes) -> bytes:
        """Read or write memory."""
        kind, (head, _, rest) = text[0], text[1:].partition(":")
        address, size = (int(part, 16) for part in head.split(","))
        if kind == "m":
            data = self._control.read(address, min(size, LARGEST // 2 - 16))
            return data.hex().encode() if data is not None else _ERROR
        data = bytes.fromhex(rest) if kind == "M" else packet[packet.index(b":") + 1 :]
        if len(data) != size:
            return _ERROR
        return _OK if not size or self._control.write(address, data) else _ERROR

    # Stopping.

    def stop_points(self, text: str, _packet: bytes) -> bytes:
        """Insert or remove a breakpoint or a watch."""
        insert = text[0] == "Z"
        kind, where, size = text[1:].split(";")[0].split(",")
        address = int(where, 16)
        if kind in ("0", "1"):
            if insert and not self._control.is_code(address):
                return _ERROR
            if not insert:
                self._lifted.add(address)
            (self._breaks.add if insert else self._breaks.discard)(address)
            return _OK
        if kind not in _WATCHES:
            return _UNKNOWN
        watch = (address & 0xFFFFFFFF, max(1, int(size, 16)), _WATCHES[kind])
        if self._control.ask("watch" if insert else "unwatch", *watch):
            return _ERROR
        (self._watches.append if insert else self._watches.remove)(watch)
        return _OK

    def _resume(self, actions: list[tuple[str, int | None]]) -> tuple[bytes, Action]:
        """The first action that names a thread is for it; one without is for all others."""
        steps = [thread for kind, thread in actions if kind == "s"]
        breaks = set(self._breaks)
        if steps:
            chosen = steps[0] if steps[0] is not None and steps[0] > 0 else self._thread
            self._control.ask("step", chosen - 1)
            # To step over a breakpoint, debuggers take all away for a moment. Other cores, which time moves on with
            # that one, would miss them.
            if all(kind == "s" for kind, _ in actions):
                breaks |= self._lifted
        self._lifted = set()
        self._control.set_breaks(breaks)
        return _OK, Action.RUN

    def stopped(self, status: int) -> bytes:
        """The reply after a run."""
        if status == ENDED:
            return b"W%02x" % min(self._control.ask("exit_code"), 255)
        stop = self._control.stopped(status)
        self._thread = self._stopped_thread = stop.core + 1
        if status == FAULTED:
            self._faults += 1
            if self.faulted_twice:
                return b"X%02x" % _SEGMENT
        signal = _SEGMENT if status == FAULTED else _INTERRUPT if stop.reason == "interrupt" else _TRAP
        extra = {"breakpoint": b"swbreak:;", "write": b"watch:%x;", "read": b"rwatch:%x;"}.get(stop.reason, b"")
        if b"%x" in extra:
            extra = self._name_watch(extra, stop.address, READ if stop.reason == "read" else WRITE)
        self._stop_reply = b"T%02xthread:%x;" % (signal, self._thread) + extra
        return self._stop_reply

    def _name_watch(self, extra: bytes, address: int, kind: int) -> bytes:
        """A watch of both kinds of accesses has a name of its own."""
        for at, size, kinds in self._watches:
            if at <= address < at + size and kinds & kind:
                return b"awatch:%x;" % address if kinds == READ | WRITE else extra % address
        return extra % address

    # Questions.

    def select(self, text: str, _packet: bytes) -> bytes:
        """The core that further packets are about."""
        kind, thread = text[1], _thread(text[2:])
        if thread > self._control.cores:
            return _ERROR
        if kind == "g" or thread > 0:
            self._thread = thread if thread > 0 else self._stopped_thread
        return _OK

    def is_thread(self, text: str, _packet: bytes) -> bytes:
        """Tell if a thread is there."""
        return _OK if 1 <= _thread(text[1:]) <= self._control.cores else _ERROR

    def verbose(self, text: str, _packet: bytes) -> bytes:
        """The packets of many letters that are understood."""
        return b"vCont;c;C;s;S" if text == "vCont?" else _UNKNOWN

    def query(self, text: str, _packet: bytes) -> bytes:
        """A question about the machine."""
        if text.startswith("qXfer:"):
            return self._transfer(text)
        if text.startswith("qThreadExtraInfo,"):
            return self._control.state(_thread(text[17:]) - 1).encode().hex().encode()
        if text.startswith("qRcmd,"):
            return self._monitor(bytes.fromhex(text[6:]).decode("latin-1"))
        answers = {
            "qSupported": _FEATURES.encode(),
            "qC": b"QC%x" % self._thread,
            "qAttached": b"1",
            "qfThreadInfo": b"m" + b",".join(b"%x" % (core + 1) for core in range(self._control.cores)),
            "qsThreadInfo": b"l",
            "QStartNoAckMode": _OK,
            "qSymbol": _OK,
        }
        return answers.get(text.split(":")[0], _UNKNOWN)

    def _monitor(self, command: str) -> bytes:
        if command.strip() != "cycles":
            return b"monitor cycles: the time of every core\n".hex().encode()
        rows = (f"{self._soc.core_name(core)}: {self._control.state(core)}\n" for core in range(self._control.cores))
        return "".join(rows).encode().hex().encode()

    def _transfer(self, text: str) -> bytes:
        _, kind, operation, annex, window = text.split(":")
        if operation != "read":
            return _UNKNOWN
        if kind == "features" and annex == "target.xml":
            document = description.target_xml(self._registers)
        elif kind == "memory-map":
            document = description.memory_map_xml(self._soc, self._control.register_spaces())
        elif kind == "threads":
            rows = (
                (core + 1, self._soc.core_name(core), self._control.state(core)) for core in range(self._control.cores)
            )
            document = description.threads_xml(rows)
        else:
            return b"E00"
        offset, size = (int(part, 16) for part in window.split(","))
        piece = document.encode()[offset : offset + min(size, LARGEST - 16)]
        return (b"m" if offset + len(piece) < len(document) else b"l") + piece


# By the first letter of a packet: questions and changes that leave the run where it is. They are no part of a session,
# which would then hold itself and its machine.
_LOOKS: dict[str, Callable[[Session, str, bytes], bytes]] = {
    "?": Session.why_stopped,
    "g": Session.get_all,
    "G": Session.set_all,
    "p": Session.get_one,
    "P": Session.set_one,
    **dict.fromkeys("mMX", Session.memory),
    **dict.fromkeys("zZ", Session.stop_points),
    "H": Session.select,
    "T": Session.is_thread,
    **dict.fromkeys("qQ", Session.query),
    "v": Session.verbose,
}


def _thread(text: str) -> int:
    """A thread's number; 0 for any and -1 for all."""
    return int(text, 16) if text not in ("-1", "") else -1


def _action(part: str) -> tuple[str, int | None]:
    kind, _, thread = part.partition(":")
    return kind[:1].lower(), _thread(thread) if thread else None
