"""The end of a verb that failed: one sentence on stderr, and the exit status."""

import errno
import resource
import signal
import sys
from collections.abc import Callable

from tvm_pulp.errors import GuestFault, UserError, WrongAnswer
from tvm_pulp.machine_errors import machine_sentence, with_way_out
from tvm_pulp.tvmc.standard_streams import output_failure, silence_output

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
    sentence, status = None, 0
    try:
        status = _status_of(work) if whole_process else work()
    except UserError as error:
        sentence, status = str(error), refused
    except WrongAnswer as error:
        sentence, status = str(error), WRONG
    except GuestFault as error:
        reason = " ".join(str(error).split())
        sentence, status = f"the compiled program failed on the device ({reason}): please report it", WRONG
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        sentence, status = machine_sentence(error) or _scarce_memory(error), refused
        if isinstance(error, BrokenPipeError) and not whole_process:
            return PIPE
        if sentence is None and output_failure() is None:
            raise
    except Exception as error:
        sentence, status = _scarce_memory(error), refused
        if sentence is None or not whole_process:
            raise
    lost = output_failure() if whole_process else None
    if lost is not None:
        silence_output()
        if lost.errno == errno.EPIPE:
            return PIPE  # as with `| head`: whoever read has enough
        sentence = f"cannot write to standard output: {with_way_out(lost.errno or errno.EIO)}"
        status = refused
    if sentence is not None:
        print(f"tvmc {verb}: {sentence}", file=sys.stderr)
    return status


# More addresses than this are never too few for what a verb begins with.
_ENOUGH = 4 << 30


def _scarce_memory(error: Exception) -> str | None:
    """A sentence where addresses are few: libraries that find no room fail later and otherwise than they say."""
    room, _ = resource.getrlimit(resource.RLIMIT_AS)
    if room == resource.RLIM_INFINITY or room >= _ENOUGH:
        return None
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return f"{room >> 20} MiB of addresses are allowed, which may be too few ({reason}): allow more with `ulimit -v`"


def _status_of(work: Callable[[], int]) -> int:
    """Its status, also where it ends by itself after a page of help."""
    try:
        return work()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
        return 0
