"""Sizes and guards of PyTorch programs are texts that PyTorch evaluates: which texts are expressions and nothing else.

A size is of numbers, symbols such as `s77`, and functions that SymPy or PyTorch define for sizes, in the words of
SymPy's `srepr` (`Mul(Integer(2), Symbol('s77'))`) or in Python's (`2*s77`). A guard compares sizes of inputs.
"""

import ast
import re

_LONGEST = 20_000
_SYMBOL = re.compile(r"(s|u|zf|zuf)\d{1,6}")
_NUMBER = re.compile(r"[+-]?(\d{1,19}|\d{1,40}\.\d{0,40}(e[+-]?\d{1,3})?|\d{1,40}e[+-]?\d{1,3})")
_LARGEST_NUMBER = 1 << 64
_LARGEST_POWER = 64
_MOST_OPERANDS = 64
_CONSTANTS = {"oo", "int_oo", "true", "false", "nan", "zoo"}
_ASSUMPTIONS = {
    "integer",
    "positive",
    "nonnegative",
    "negative",
    "nonpositive",
    "zero",
    "nonzero",
    "real",
    "finite",
} | {
    "commutative",
    "extended_real",
    "rational",
}
# Of the second operand, values grow beyond all bounds.
_POWERS = {"Pow", "PowByNatural", "FloatPow", "LShift", "RShift", "RoundDecimal"}
_FUNCTIONS = _POWERS | {
    *("Integer", "Float", "Rational", "Zero", "One", "NegativeOne", "Half", "Add", "Mul", "Max", "Min", "Abs"),
    *("Infinity", "NegativeInfinity", "IntInfinity", "NegativeIntInfinity", "BooleanTrue", "BooleanFalse"),
    *("Eq", "Equality", "Ne", "Unequality", "Lt", "StrictLessThan", "Le", "LessThan", "Gt", "StrictGreaterThan"),
    *("Ge", "GreaterThan", "And", "Or", "Not", "Xor", "ITE", "floor", "ceiling", "Piecewise", "ExprCondPair", "Tuple"),
    *("FloorDiv", "CleanDiv", "CeilDiv", "ModularIndexing", "Where", "PythonMod", "Mod", "CeilToInt", "FloorToInt"),
    *("FloatTrueDiv", "IntTrueDiv", "IsNonOverlappingAndDenseIndicator", "TruncToFloat", "TruncToInt", "RoundToInt"),
    *("ToFloat", "Identity"),
}
_OF_SHAPES = {"size", "stride", "storage_offset", "dim", "numel"}
_OF_NUMBERS = {"max", "min", "abs", "int", "float"} | (_FUNCTIONS - _POWERS)
_OF_MODULES = {
    "math": {"floor", "ceil", "trunc", "sqrt", "isnan", "log2"},
    "torch": {"sym_float", "sym_int", "sym_max", "sym_min", "sym_not", "sym_ite", "_sym_sqrt"},
}
# A key of an argument in a guard, which PyTorch pastes into a text of Python.
_KEY = re.compile(r"[\w .:/-]*")


def is_size(text: str) -> bool:
    """Tell if a text is an expression of sizes and nothing else."""
    tree = _parsed(text)
    try:
        return tree is not None and _size(tree, text)
    except RecursionError:
        return False


def is_guard(text: str) -> bool:
    """Tell if a text is a statement about sizes of inputs and nothing else."""
    tree = _parsed(text)
    try:
        return tree is not None and '"' not in text and "\\" not in text and _guard(tree)
    except RecursionError:
        return False


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST or not text.isascii() or not text.isprintable() or "#" in text:
        return None
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _size(node: ast.expr, text: str) -> bool:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            # SymPy reads the digits themselves; other forms of numbers mean other things to it.
            written = ast.get_source_segment(text, node) or ""
            return isinstance(value, bool) or _is_number(written)
        case ast.Name(id=name):
            return bool(_SYMBOL.fullmatch(name)) or name in _CONSTANTS
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return _size(operand, text)
        case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
            return _is_bounded(base, exponent) and _size(base, text) and _size(exponent, text)
        case ast.BinOp(
            op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod() | ast.BitAnd() | ast.BitOr()
        ):
            return _size(node.left, text) and _size(node.right, text)
        case ast.Compare(left=left, comparators=[right]):
            return _size(left, text) and _size(right, text)
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str() as name)], keywords=keywords):
            return bool(_SYMBOL.fullmatch(name)) and all(_is_assumption(k) for k in keywords)
        case ast.Call(func=ast.Name(id="Float"), args=[ast.Constant(value=str() as digits)], keywords=keywords):
            return _is_number(digits) and all(_is_precision(k) for k in keywords)
        case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]) if name in _FUNCTIONS:
            if len(operands) > _MOST_OPERANDS or (name in _POWERS and not _are_bounded(operands)):
                return False
            return all(_size(o, text) for o in operands)
    return False


def _is_number(digits: str) -> bool:
    return bool(_NUMBER.fullmatch(digits)) and abs(float(digits)) < _LARGEST_NUMBER


def _is_assumption(keyword: ast.keyword) -> bool:
    return keyword.arg in _ASSUMPTIONS and isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is bool


def _is_precision(keyword: ast.keyword) -> bool:
    bits = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return keyword.arg == "precision" and type(bits) is int and 0 < bits <= 1000


def _are_bounded(operands: list[ast.expr]) -> bool:
    return len(operands) == 2 and _is_bounded(*operands)


def _is_bounded(base: ast.expr, exponent: ast.expr) -> bool:
    """Tell if a power is one of numbers that fit, and not of another power."""
    again = any(
        (isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow))
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in _POWERS)
        for n in ast.walk(base)
    )
    return not again and _is_small(exponent)


def _is_small(node: ast.expr) -> bool:
    """Tell if this is a number of at most `_LARGEST_POWER`."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return abs(value) <= _LARGEST_POWER
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_small(operand)
        case ast.Call(func=ast.Name(id="Integer" | "Rational"), args=operands, keywords=[]):
            return all(_is_small(o) for o in operands)
        case ast.Call(func=ast.Name(id="Float"), args=[ast.Constant(value=str() as digits)]):
            return _is_number(digits) and abs(float(digits)) <= _LARGEST_POWER
        case ast.Call(func=ast.Name(id="NegativeOne" | "One" | "Zero" | "Half"), args=[], keywords=[]):
            return True
    return False


def _guard(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is None or isinstance(value, (bool, float)) or _fits(value)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
            return _guard(operand)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Mod()):
            return _guard(node.left) and _guard(node.right)
        case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
            return _is_bounded(base, exponent) and _guard(base) and _guard(exponent)
        case ast.BoolOp(values=values):
            return all(_guard(v) for v in values)
        case ast.Compare(left=left, comparators=right):
            return _guard(left) and all(_guard(r) for r in right)
        case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]) if name in _OF_NUMBERS:
            return all(_guard(o) for o in operands)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=operands, keywords=[]):
            return name in _OF_MODULES.get(owner, ()) and all(_guard(o) for o in operands)
        case ast.Attribute(value=ast.Name(id="math"), attr="inf" | "nan"):
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]):
            return name in _OF_SHAPES and _of_input(value)
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int())):
            return _guard(call)
        case ast.Subscript():
            return _of_input(node)
    return False


def _fits(value: object) -> bool:
    return isinstance(value, int) and abs(value) < _LARGEST_NUMBER


def _of_input(node: ast.expr) -> bool:
    """Tell if this is an input, or a part of one: `L['x'][0]['k']`."""
    while isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not (_fits(key) or (isinstance(key, str) and _KEY.fullmatch(key))):
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id == "L"
