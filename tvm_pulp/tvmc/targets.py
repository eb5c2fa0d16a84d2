"""`tvmc targets`: SoCs, engines and their options, devices."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_args: argparse.Namespace) -> int:
    from tvm_pulp import soc
    from tvm_pulp.sim import runner
    from tvm_pulp.uma import registry

    print("--target")
    print("  c                plain C on the cores, no accelerator")
    for name in registry.names():
        backend = registry.backend(name)
        summary = (backend.__doc__ or "").strip().split("\n")[0]
        print(f"  {'uma-' + name:16} {summary} (default --soc {backend.default_soc})")
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
    return 0
