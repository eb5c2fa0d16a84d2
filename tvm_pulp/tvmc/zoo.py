"""`tvmc zoo`: the built-in models."""

import argparse

from tvm_pulp.tvmc.argument import Argument

ARGUMENTS: tuple[Argument, ...] = ()
EPILOG = "Any of them is a MODEL of the other verbs: tvmc compile zoo:resnet8 -o resnet8.tar."


def run(_args: argparse.Namespace) -> int:
    from tvm_pulp.frontend.zoo.listing import listing

    found = list(listing())
    name, kind = (max(map(len, column)) for column in zip(*((m.name, m.kind) for m in found), strict=True))
    for model in found:
        print(f"zoo:{model.name:{name}}  {model.kind:{kind}}  {model.parameters:>10,} parameters  {model.inputs}")
    return 0
