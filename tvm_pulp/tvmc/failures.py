"""The end of a verb that failed: one sentence on stderr, and the exit status."""

import errno
import os
import signal
import sys
from collections.abc import Callable

from tvm_pulp.errors import GuestFault, UserError, WrongAnswer
from tvm_pulp.machine_errors import machine_sentence, with_way_out
from tvm_pulp.tvmc.standard_streams import flushed_output, silence_output

USER, WRONG = 2, 1
# `sim` passes guest exit values 0..125 through, so its user errors need a value of their own.
USER_OF_SIM = 126
# As a shell reports a program that the end of a pipe ended.
PIPE = 128 + signal.SIGPIPE


def run_to_end(verb: str, work: Callable[[], int], *, whole_process: bool) -> int:
    """Run a verb; errors of users and of the machine are sentences, other bugs are raised.

    `whole_process`: nothing else is printed by this process, so that what does not arrive is known now.
    """
    refused = USER_OF_SIM if verb == "sim" else USER
    try:
        status = _status_of(work) if whole_process else work()
        lost = flushed_output() if whole_process else None
        if lost is not None:
            raise lost
    except UserError as error:
        _say(verb, str(error))
        status = refused
    except WrongAnswer as error:
        _say(verb, str(error))
        status = WRONG
    except GuestFault as error:
        reason = " ".join(str(error).split())
        _say(verb, f"the compiled program failed on the device ({reason}): please report it")
        status = WRONG
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        lost = flushed_output()
        if isinstance(error, BrokenPipeError) and (lost is not None or not whole_process):
            status = PIPE  # as with `| head`: whoever read has enough
        elif lost is not None:
            _say(verb, f"cannot write to standard output: {with_way_out(lost.errno or errno.EIO)}")
            status = refused
        else:
            sentence = machine_sentence(error)
            if sentence is None:
                raise
            _say(verb, sentence)
            status = refused
    if whole_process and flushed_output() is not None:
        silence_output()
    return status


def _status_of(work: Callable[[], int]) -> int:
    """Its status, also where it ends by itself after a page of help."""
    try:
        return work()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
        return 0


def _say(verb: str, sentence: str) -> None:
    try:
        print(f"tvmc {verb}: {sentence}", file=sys.stderr)
    except OSError:
        # Nobody hears it: the exit status tells.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
