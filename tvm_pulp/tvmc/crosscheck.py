"""`tvmc crosscheck`: the same program on several devices; do outputs and cycles agree?"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvm_pulp.compile_options import shown
from tvm_pulp.errors import UserError, WrongAnswer, refuse_if
from tvm_pulp.tvmc import device_options
from tvm_pulp.tvmc.argument import INPUTS, UPDATED, argument, given_inputs
from tvm_pulp.tvmc.model_options import check_archive, options_of
from tvm_pulp.tvmc.progress import Progress

if TYPE_CHECKING:
    from tvm_pulp.api import App
    from tvm_pulp.sim.crosscheck import Comparison, Measurement

_MOST_INFERENCES = 16


ARGUMENTS = (
    argument(
        "--devices",
        default="iss,gvsoc",
        metavar="LIST",
        help="the first is held against the others; default: iss,gvsoc; iss alone with --baseline",
    ),
    *device_options.SETTINGS,
    *INPUTS,
    argument(
        "--inferences",
        type=int,
        metavar="N",
        help="2 to 16; cycles are the mean of all but the first; default: 2, or those of the --baseline",
    ),
    argument("--tolerance", type=float, default=1.5, metavar="PERCENT", help="deviation of the whole that is accepted"),
    argument("--baseline", metavar="F.json", help="compare with recorded figures of this very program"),
    argument("--record", writes=UPDATED, metavar="F.json", help="add what the other devices measured to this file"),
)
EPILOG = "Example: tvmc crosscheck archive.tar --devices iss,gvsoc --inferences 6. "


def run(args: argparse.Namespace) -> int:
    devices = _devices(args)
    refuse_if(
        args.inferences is not None and not 2 <= args.inferences <= _MOST_INFERENCES,
        f"--inferences {args.inferences}: choose 2 to {_MOST_INFERENCES}",
    )
    if str(args.MODEL).endswith(".tar"):
        check_archive(args.MODEL)
    settings = _settings(devices, device_options.settings(args))
    arrays = given_inputs(args)
    app = _app(args)
    from tvm_pulp.report.inputs import prepare_inputs
    from tvm_pulp.sim import crosscheck as check

    facts = app.metadata["tvm_pulp"]
    inputs = prepare_inputs(facts["inputs"], arrays)
    runners = {device: app.runner(device, None, settings[device]) for device in devices}
    recorded = []
    if args.baseline:
        recorded = check.baseline_runs(Path(args.baseline), runners[devices[0]].program(), facts["soc"])
    inferences = _inferences(args, recorded)
    found = {device: runner.soc_settings() for device, runner in runners.items()}
    found |= {f"{run['device']} (recorded)": run.get("soc_settings") or {} for run in recorded}
    app = _as_found(app, found)
    measured: list[Measurement] = []
    for device in devices:
        _say(f"{inferences} inferences on {device}")
        measured.append(check.measure(app, device, inputs, inferences, settings[device]))
    if args.record:
        runs = [check.record(str(args.MODEL), facts, m, settings[m.device], found[m.device]) for m in measured[1:]]
        check.write_baseline(Path(args.record), runs)
    measured += [check.baseline_measurement(run, inferences) for run in recorded]
    comparison = check.compare(measured, [layer["name"] for layer in facts["layers"]])
    _show(comparison, measured, args.tolerance)
    return _verdict(comparison, measured, args.tolerance)


def _say(text: str) -> None:
    print(f"tvmc crosscheck: {text}", file=sys.stderr, flush=True)


def _inferences(args: argparse.Namespace, recorded: Sequence[Mapping[str, Any]]) -> int:
    """As many as were recorded, unless fewer are asked for."""
    fewest = min((len(run["cycles"]) for run in recorded), default=None)
    wanted: int = args.inferences or fewest or 2
    refuse_if(
        fewest is not None and wanted > fewest,
        f"--inferences {wanted}: {fewest} are recorded in {args.baseline}: ask for no more, or record it again",
    )
    return wanted


def _as_found(app: "App", found: Mapping[str, Mapping[str, Any]]) -> "App":
    """The embedded simulator as the machine that other devices were found to be."""
    from tvm_pulp.sim.crosscheck import as_on_device

    for device, settings in found.items():
        if settings:
            stated = ", ".join(f"{path}={value}" for path, value in settings.items())
            _say(f"{device} is another machine than --soc {app.metadata['tvm_pulp']['soc']}; iss is told {stated}")
            app = as_on_device(app, settings)
    return app


def _devices(args: argparse.Namespace) -> list[str]:
    devices = [name.strip() for name in args.devices.split(",") if name.strip()]
    refuse_if(
        len(set(devices)) != len(devices) or not devices,
        f"--devices {args.devices}: name different devices, such as iss,gvsoc",
    )
    refuse_if(
        len(devices) < 2 and not args.baseline,
        f"--devices {args.devices}: name two, such as iss,gvsoc, or give a --baseline",
    )
    refuse_if(
        len(devices) < 2 and args.record, "--record keeps what other devices measured: name a second one in --devices"
    )
    return devices


def _settings(devices: Sequence[str], given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Options go to the devices that know them; one that none knows is a user error."""
    from tvm_pulp.sim.runner import runner_class

    known = {device: runner_class(device).options for device in devices}
    for name in given:
        if not any(name in options for options in known.values()):
            every = sorted({option for options in known.values() for option in options})
            raise UserError(
                f"--device-option {name}: none of the devices has it: they have {', '.join(every) or 'none'}"
            )
    return {
        device: {name: value for name, value in given.items() if name in options} for device, options in known.items()
    }


def _app(args: argparse.Namespace) -> "App":
    """An archive as it is, a model compiled."""
    from tvm_pulp.api import App, compile_with

    options = options_of(args)
    if not str(args.MODEL).endswith(".tar"):
        with Progress("crosscheck", stages=False) as progress:
            return compile_with(args.MODEL, options, progress)
    for name, _ in options.stated():
        raise UserError(f"{shown(name)} has no effect on '{args.MODEL}', which is compiled already: drop it")
    return App.load(args.MODEL)


def _show(comparison: "Comparison", measured: "Sequence[Measurement]", tolerance: float) -> None:
    from tvm_pulp.report.fitted_table import print_fitted

    others = [m.device for m in measured[1:]]
    columns = ["layer", *(m.device for m in measured), *(f"from {other}" for other in others)]
    rows = []
    for row in comparison.rows:
        cycles = ["-" if c is None else f"{c:,}" for c in row.cycles]
        deviations = [
            "-" if value is None else f"{value:+.2f} %" + (" !" if abs(value) > tolerance else "")
            for value in row.deviations
        ]
        rows.append([row.name, *cycles, *deviations])
    print_fitted("cycles of the last inference; total: mean of all but the first", columns, rows, 1, sys.stdout)
    for m in measured:
        of = f", {m.revision or 'revision unknown'}"
        took = f", {m.seconds:.1f} s" if m.seconds else ""
        print(f"{m.device}{of}: {' '.join(f'{c:,}' for c in m.cycles or [])} cycles{took}")
    print(f"program {measured[0].elf_sha256}")


def _verdict(comparison: "Comparison", measured: Sequence[Any], tolerance: float) -> int:
    first, others = measured[0].device, ", ".join(m.device for m in measured[1:])
    if comparison.differing:
        raise WrongAnswer(
            f"outputs of {first} differ from those of {', '.join(comparison.differing)}: please report it"
        )
    worst = comparison.worst()
    if worst is None:
        raise UserError("the devices count no cycles that could be compared: choose others with --devices")
    if abs(worst) > tolerance:
        raise WrongAnswer(
            f"outputs agree, but the cycles of {first} are {worst:+.2f} % from those of {others}, more than the "
            f"tolerance of {tolerance:g} %: look at the layers that are marked, or accept more with --tolerance"
        )
    print(f"{first} agrees with {others}: outputs equal, cycles {worst:+.2f} %")
    return 0
