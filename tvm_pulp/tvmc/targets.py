"""`tvmc targets`: SoCs, engines and their options, devices; with `--operators`, who runs what."""

import argparse
import sys

from tvm_pulp.tvmc.argument import argument

ARGUMENTS = (
    argument(
        "--operators", action="store_true", help="list operators instead: which are understood, and who runs them"
    ),
)


def run(args: argparse.Namespace) -> int:
    if args.operators:
        from tvm_pulp.report.operators_page import print_operators

        print_operators(sys.stdout)
        return 0
    from tvm_pulp import soc
    from tvm_pulp.sim import runner
    from tvm_pulp.uma import registry

    print("--target")
    print("  c                plain C on the cores, no accelerator")
    for backend in registry.backends():
        name = backend.target_name
        summary = (backend.__doc__ or "").strip().split("\n")[0]
        place = "default" if registry.backend(name) is backend else "with"
        print(f"  {'uma-' + name:16} {summary} ({place} --soc {backend.default_soc})")
        for attribute in backend.attributes.values():
            choices = "{" + ",".join(map(str, attribute.choices)) + "}" if attribute.choices else "VALUE"
            print(f"    --target-uma-{name}-{attribute.name} {choices}  (default {attribute.default}) {attribute.help}")
    print("--soc")
    for name in soc.names():
        print(f"  {name:16} {soc.load(name).description}")
    print("--device")
    for name in runner.names():
        summary = (runner.runner_class(name).__doc__ or "").strip().split("\n")[0]
        print(f"  {name:16} {summary}")
        for option, meaning in runner.runner_class(name).options.items():
            print(f"    --device-option {option}=VALUE  {meaning}")
    return 0
