"""The fuzzer by hand: `scripts/fuzz`. Progress goes to standard error, findings to a folder."""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.campaign import Campaign, Outcome
from tests.fuzz.formats import FORMATS, missing
from tests.fuzz.formats.format import Format
from tests.fuzz.mutants import Mutant

_REPORT_EVERY_S = 10


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Mutate files of every format and compile them.")
    parser.add_argument("--seconds", type=float, default=600, help="how long; every format gets an equal share")
    parser.add_argument("--format", metavar="LIST", help=f"only these, of {','.join(FORMATS)}")
    parser.add_argument("--seed", type=int, default=1, help="of the mutants; the same seed gives the same")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first mutant")
    parser.add_argument("--case", type=int, metavar="N", help="one mutant alone, as a finding names it")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), metavar="DIR", help="where findings go")
    args = parser.parse_args(arguments)
    names = args.format.split(",") if args.format else list(FORMATS)
    for name in names:
        if name not in FORMATS:
            parser.error(f"--format {name}: choose of {', '.join(FORMATS)}")
        lacks = missing(FORMATS[name])
        if lacks is not None:
            said = f"--format {name} needs {lacks.split('.')[0]}, which is not installed"
            if args.format:
                parser.error(said)
            print(f"fuzz: {said}: left out", file=sys.stderr)
    args.formats = [FORMATS[name] for name in names if missing(FORMATS[name]) is None]
    return args


class Clock:
    """Shares time among formats: that which had the least is next, and lines of progress say how far it is."""

    def __init__(self, formats: list[Format], seconds: float) -> None:
        self._started = self._said = time.monotonic()
        self._seconds = seconds
        self._spent = {found.name: 0.0 for found in formats}
        self.cases = {found.name: 0 for found in formats}

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def next(self, formats: list[Format]) -> Format | None:
        """The format of the next mutant; None where time is up."""
        if self.passed >= self._seconds:
            return None
        return min(formats, key=lambda found: self._spent[found.name])

    def spend(self, found: Format, seconds: float, outcome: Outcome) -> None:
        """Note what a mutant took."""
        self._spent[found.name] += seconds
        self.cases[found.name] += 1
        if time.monotonic() - self._said > _REPORT_EVERY_S:
            self._said = time.monotonic()
            counts = ", ".join(f"{name} {count}" for name, count in self.cases.items())
            told = f"{self.passed:.0f} of {self._seconds:.0f} s, {len(outcome.findings)} findings: {counts}"
            print(f"fuzz: {told}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 where something was found."""
    args = parse(arguments)
    outcome, clock = Outcome(), Clock(args.formats, args.seconds)
    with Campaign(args.seed) as campaign:
        while (chosen := clock.next(args.formats)) is not None:
            started = time.monotonic()
            campaign.files(chosen)  # what valid files take counts for their format
            number = args.first + clock.cases[chosen.name] if args.case is None else args.case
            known = {finding.kind for finding in outcome.findings}
            finding = campaign.try_one(Mutant.of(chosen, args.seed, number), outcome, args.findings)
            if finding is not None and finding.kind not in known:
                print(f"fuzz: {finding.mutant}: {finding.text.strip()[-1500:]}", file=sys.stderr, flush=True)
            clock.spend(chosen, time.monotonic() - started, outcome)
            if args.case is not None:
                break
    kinds = {finding.kind for finding in outcome.findings}
    counts = ", ".join(f"{name} {count}" for name, count in clock.cases.items())
    print(f"fuzz: {clock.passed:.0f} s, seed {args.seed}: {counts}; statuses {dict(sorted(outcome.statuses.items()))}")
    print(f"fuzz: {outcome.compared} results compared, at most {outcome.peak_mib} MiB, {len(kinds)} kinds of findings")
    if kinds:
        print(f"fuzz: each is in a folder below {args.findings}, with its mutant")
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
