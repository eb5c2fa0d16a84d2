"""Partitioning: chosen regions become Relax functions with attributes `Composite` and `Codegen`, as in BYOC.

    dense1 = qnn.dense(x, w)         @R.function  # Composite: "dotter.dense_lookup", Codegen: "dotter"
    y = qnn.lookup(dense1, t)   =>   def dotter_y(x): dense1 = qnn.dense(x, w); y = qnn.lookup(dense1, t); return y
                                     y = dotter_y(x)

What no region holds (views, tuples) stays in `main`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tvm
from tvm import relax

from tvm_pulp.uma.region import Region


def partition(module: Any, regions: Sequence[Region]) -> Any:
    """The module with one function per region. Regions do not overlap; each hands one value on."""
    main = module["main"]
    inside = {v for region in regions for v in region.layer.variables[:-1]}
    results = {region.layer.variables[-1]: region for region in regions if region.layer.variables}
    values = {b.var: b.value for block in main.body.blocks for b in block.bindings}
    functions = {gv: f for gv, f in module.functions.items() if gv.name_hint != "main"}
    taken = {"main", *(gv.name_hint for gv in functions)}
    blocks = []
    for block in main.body.blocks:
        bindings = []
        for binding in block.bindings:
            region = results.get(binding.var)
            if region is not None:
                arguments, function = _function(region, values)
                name = _unused(f"{region.engine}_{region.layer.name}", taken)
                place = tvm.ir.GlobalVar(name)
                function = function.with_attr("global_symbol", name)
                relax.expr._update_type(place, function.ty)
                functions[place] = function
                call = relax.Call(place, arguments, ret_ty=binding.var.ty)
                bindings.append(relax.VarBinding(binding.var, call))
            elif binding.var not in inside:
                bindings.append(binding)
        blocks.append(type(block)(bindings))
    body = relax.SeqExpr(blocks, main.body.body)
    relax.expr._update_type(body, main.body.ty)
    functions[module.get_global_var("main")] = relax.Function(
        main.params, body, main.ret_ty, main.is_pure, attrs=main.attrs
    )
    return tvm.IRModule(functions)


def _function(region: Region, values: Mapping[Any, Any]) -> tuple[list[Any], Any]:
    """Operands that `main` hands to a region's function, and the function."""
    variables = region.layer.variables
    known: dict[Any, Any] = {}
    arguments: list[Any] = []

    def inner(expression: Any) -> Any:
        """An expression in the names of the function; what comes from outside becomes a parameter."""
        if isinstance(expression, relax.Var):
            if expression not in known:
                known[expression] = relax.Var(expression.name, expression.ty)
                arguments.append(expression)
            return known[expression]
        if isinstance(expression, relax.Tuple):
            return relax.Tuple([inner(f) for f in expression.fields])
        if isinstance(expression, relax.TupleGetItem):
            return relax.TupleGetItem(inner(expression.tuple_value), expression.index)
        if isinstance(expression, relax.Call):
            operands, kinds = [inner(a) for a in expression.args], list(expression.ty_args)
            return relax.Call(expression.op, operands, expression.attrs, kinds, ret_ty=expression.ty)
        return expression

    bindings = []
    for variable in variables[:-1]:
        value = inner(values[variable])
        known[variable] = relax.DataflowVar(variable.name, variable.ty)
        bindings.append(relax.VarBinding(known[variable], value))
    result = relax.Var(variables[-1].name, variables[-1].ty)
    bindings.append(relax.VarBinding(result, inner(values[variables[-1]])))
    body = relax.SeqExpr([relax.DataflowBlock(bindings)], result)
    relax.expr._update_type(body, result.ty)
    parameters = [known[a] for a in arguments]
    attributes = {"Composite": region.composite, "Codegen": region.engine}
    return arguments, relax.Function(parameters, body, result.ty, attrs=tvm.ir.make_node("ir.DictAttrs", **attributes))


def _unused(text: str, taken: set[str]) -> str:
    base = re.sub(r"\W", "_", text)
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name
