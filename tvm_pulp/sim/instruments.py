"""Views of a run that somebody wants beside its outcome."""

from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Instruments:
    """Nothing by default; none of them changes outputs or cycles."""

    trace: Path | None = None
    """A timeline, streamed to this file: Chrome's JSON for *.json, else Perfetto's own format."""
    gdb: int | None = None
    """Port on which the run waits for a debugger."""
    log_calls: bool = False
    """Every call and return on stderr."""
    profile: Path | None = None
    """Cycles of functions by cause, for speedscope."""
    check_reads: bool = False
    """Report reads of L1 and L2 bytes that nobody wrote."""

    def wanted(self) -> list[str]:
        """Names of the options that are set, as on the command line."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return [
            "--" + name.replace("_", "-") for name, value in values.items() if value is not None and value is not False
        ]
