"""A debugger in a few lines: speaks GDB's remote protocol to the simulator's server."""

import re
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Self
from xml.etree import ElementTree

from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.gdb import GdbServer


class GdbClient:
    """One connection; packets are plain text here."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._buffer = b""
        self._acknowledge = True
        assert "QStartNoAckMode+" in self.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
        assert self.ask("QStartNoAckMode") == "OK"
        self._acknowledge = False
        self.names = self._register_names()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def close(self) -> None:
        """Leave without a word."""
        self._socket.close()

    def send_raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self._socket.sendall(data)

    def send(self, text: str | bytes) -> None:
        """One packet."""
        body = text.encode("latin-1") if isinstance(text, str) else text
        self._socket.sendall(b"$" + body + b"#%02x" % (sum(body) & 0xFF))

    def receive(self) -> str:
        """The next packet that comes back."""
        while not (found := re.match(rb"[+]*\$([^#]*)#(..)", self._buffer)):
            data = self._socket.recv(65536)
            assert data, "the server is gone"
            self._buffer += data
        self._buffer = self._buffer[found.end() :]
        assert int(found[2], 16) == sum(found[1]) & 0xFF
        if self._acknowledge:
            self._socket.sendall(b"+")
        return re.sub(rb"}(.)", lambda m: bytes((m[1][0] ^ 0x20,)), found[1], flags=re.DOTALL).decode("latin-1")

    def ask(self, text: str | bytes) -> str:
        """A packet and its answer."""
        self.send(text)
        return self.receive()

    def document(self, kind: str, annex: str = "") -> ElementTree.Element:
        """An XML document, read in pieces."""
        text, more = "", True
        while more:
            piece = self.ask(f"qXfer:{kind}:read:{annex}:{len(text):x},400")
            text, more = text + piece[1:], piece[0] == "m"
        return ElementTree.fromstring(text)

    def _register_names(self) -> list[str]:
        root = self.document("features", "target.xml")
        return [register.attrib["name"] for register in root.iter("reg")]

    def registers(self, core: int) -> dict[str, int]:
        """All registers of a core by name."""
        assert self.ask(f"Hg{core + 1:x}") == "OK"
        values = [value for (value,) in struct.iter_unpack("<I", bytes.fromhex(self.ask("g")))]
        return dict(zip(self.names, values, strict=True))

    def set_register(self, core: int, name: str, value: int) -> str:
        """Write one register."""
        assert self.ask(f"Hg{core + 1:x}") == "OK"
        return self.ask(f"P{self.names.index(name):x}={struct.pack('<I', value).hex()}")

    def read(self, address: int, size: int) -> bytes:
        """Memory."""
        return bytes.fromhex(self.ask(f"m{address:x},{size:x}"))

    def stop(self, reply: str) -> tuple[int, str]:
        """Core and reason of a stop reply."""
        found = re.fullmatch(r"T(..)thread:([0-9a-f]+);(.*)", reply)
        assert found, reply
        return int(found[2], 16) - 1, found[3] or found[1]

    def go(self, action: str = "vCont;c") -> tuple[int, str]:
        """Let it run until it stops."""
        return self.stop(self.ask(action))

    def until(self, core: int) -> tuple[int, str]:
        """Let it run until that core stops, over the stops of others."""
        while (stopped := self.go())[0] != core:
            pass
        return stopped


class DebuggedRun:
    """A machine that runs in a thread under the control of a client."""

    def __init__(self, machine: Machine, run: Callable[[], Any]) -> None:
        self.said: list[str] = []
        self._server = GdbServer(0, self.said.append)
        machine.drive = self._server.drive
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._call, args=(run,), daemon=True)
        self._thread.start()
        self.client = GdbClient(self._server.port)

    def _call(self, run: Callable[[], Any]) -> None:
        try:
            self._result = run()
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        """What the run returned or raised."""
        self._thread.join(60)
        assert not self._thread.is_alive(), "the run does not end"
        self.client.close()
        if self._error is not None:
            raise self._error
        return self._result
