"""Serve one debugger on the loopback interface: the run waits for it and goes where it says."""

import socket
import threading
from collections.abc import Callable

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.iss.gdb.control import ENDED, FAULTED, Control
from tvm_pulp.sim.iss.gdb.packets import INTERRUPT, Closed, Connection
from tvm_pulp.sim.iss.gdb.session import Action, Session
from tvm_pulp.sim.iss.machine import Machine

HOST = "127.0.0.1"
_LOOK_SECONDS = 0.02


class GdbServer:
    """A socket that waits for GDB; `drive` then takes the place of a run to the end."""

    def __init__(self, port: int, say: Callable[[str], None]) -> None:
        """Port 0: any free one; `say` is told where to connect."""
        refuse_if(not 0 <= port < 1 << 16, f"--gdb {port}: give a port from 0 (any free one) to 65535")
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind((HOST, port))
        except OSError as error:
            self._listener.close()
            raise UserError(f"--gdb {port}: the port cannot be used ({error.strerror}); choose another") from None
        self._listener.listen(1)
        self.port = int(self._listener.getsockname()[1])
        self._say = say

    def close(self) -> None:
        """Nobody can connect any more."""
        self._listener.close()

    def drive(self, machine: Machine, max_cycles: int) -> int:
        """Run under the debugger's control; the simulator's status at the end."""
        self._say(f"waiting for GDB: target remote {HOST}:{self.port}")
        stream, _ = self._listener.accept()
        self._listener.close()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection, control = Connection(stream), Control(machine)
        try:
            return self._serve(Session(control, machine.soc), connection, control, max_cycles)
        except Closed:
            self._say("GDB is gone: the program runs on")
            control.set_breaks(set())
            return _finish(control, max_cycles)
        finally:
            connection.close()

    def _serve(self, session: Session, connection: Connection, control: Control, max_cycles: int) -> int:
        while True:
            packet = connection.receive()
            if packet == INTERRUPT:
                continue
            reply, action = session.answer(packet)
            if action is Action.NONE:
                connection.send(reply)
                if packet == b"QStartNoAckMode":
                    connection.acknowledge = False
                continue
            refuse_if(action is Action.KILL, "the debugger killed the program")
            if action is Action.DETACH:
                connection.send(reply)
                session.forget()
                self._say("GDB has detached: the program runs on")
                return _finish(control, max_cycles)
            status = _run(control, connection, max_cycles)
            connection.send(session.stopped(status))
            if status == ENDED or (status == FAULTED and session.faulted_twice):
                return status


def _run(control: Control, connection: Connection, max_cycles: int) -> int:
    """Until it stops; an interrupt of the debugger stops it, its end lets it run on."""
    status: list[int] = []
    runner = threading.Thread(target=lambda: status.append(control.ask("run", max_cycles)), daemon=True)
    runner.start()
    gone = False
    while runner.is_alive():
        runner.join(_LOOK_SECONDS)
        try:
            if not gone and runner.is_alive() and connection.interrupted():
                control.ask("interrupt")
        except Closed:
            gone = True
            control.ask("interrupt")
    runner.join()
    if gone:
        raise Closed
    return status[0]


def _finish(control: Control, max_cycles: int) -> int:
    """To the end, whatever was asked before."""
    while (status := control.ask("run", max_cycles)) not in (ENDED, FAULTED):
        pass
    return status
