"""Eight numbers at a time: `Lanes`, a type that compiled kernels may use like a float.

Numba does not put eight contacts side by side into the registers of a processor; these lanes do. `+ - * /`, `abs` and
comparisons act lane by lane (a comparison gives a mask, joined by `& | ~`), `select` takes the place of `if`, and
arrays are read and written by the functions below. The operations are those of floats, so that every lane ends in the
bits of the same formula on floats. LLVM divides the eight numbers into as many registers as the machine needs.

A formula that is needed for one contact and for eight is written once: `select`, `any_lane` and `sqrt` take floats and
truth values too.

`prefetch` asks for memory before it is used. A loop that goes through an array in another order than it lies in waits
for memory at every turn, unless it asks `PREFETCH_TURNS` turns earlier for what it will need. No result changes; the
slowest loops of large worlds became up to four times faster.

Where Numba is switched off (NUMBA_DISABLE_JIT), lanes are arrays of eight numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic as _intrinsic
from numba.extending import lower_builtin, models, register_model

from .jit import njit

WIDTH = 8  # numbers of `Lanes`
PREFETCH_TURNS = 8  # turns of a loop between asking for memory and using it
_LINE = 64  # bytes of a cache line
intrinsic: Callable[..., Any] = _intrinsic
# types of LLVM, and eight numbers of no value
_I32, _I64, _REAL = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_VECTOR, _BITS = ir.VectorType(_REAL, WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
_UNDEFINED = ir.Constant(_VECTOR, ir.Undefined)


class Lanes(types.Type):
    """Eight floats."""


class LaneMask(types.Type):
    """Eight truth values."""


lanes, mask = Lanes("Lanes"), LaneMask("LaneMask")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _VECTOR)


@register_model(LaneMask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _BITS)


def _shuffle(builder: Any, x: Any, y: Any, places: Any) -> Any:
    """The numbers at these places of x and y, counted through, as one vector."""
    places = list(places)
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_I32, len(places)), places))


def _as_lanes(builder: Any, value: Any, kind: Any) -> Any:
    """Lanes from a float or from lanes."""
    if kind == lanes:
        return value
    first = builder.insert_element(_UNDEFINED, value, ir.Constant(_I32, 0))
    return _shuffle(builder, first, _UNDEFINED, [0] * WIDTH)


def _define(symbol: Any, result: Any, kinds: Any, arity: int, emit: Callable[..., Any]) -> None:
    """An operator on arguments of `kinds`, of which at least one is of the first of them."""

    @infer_global(symbol)
    class _(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == arity and kinds[0] in args and all(a in kinds for a in args):
                return signature(result, *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if kinds[0] == mask:
            return emit(builder, *args)
        return emit(builder, *(_as_lanes(builder, x, kind) for x, kind in zip(args, sig.args, strict=True)))

    for a in kinds:
        for b in kinds if arity == 2 else (None,):
            if kinds[0] in (a, b):
                lower_builtin(symbol, *((a, b) if arity == 2 else (a,)))(lower)


def _call(builder: Any, name: str, x: Any) -> Any:
    """A function of LLVM on a float or on lanes."""
    name = f"llvm.{name}.f64" if x.type == _REAL else f"llvm.{name}.v{WIDTH}f64"
    kind = ir.FunctionType(x.type, [x.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x])


# operands of operators: at least one of lanes, the other perhaps a float
_NUMBERS = (lanes, types.float64)
for _symbol, _name in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
):  # fmt: skip
    _define(_symbol, lanes, _NUMBERS, 2, lambda builder, x, y, name=_name: getattr(builder, name)(x, y))
for _symbol, _name in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _define(_symbol, mask, _NUMBERS, 2, lambda builder, x, y, name=_name: builder.fcmp_ordered(name, x, y))
_define(operator.ne, mask, _NUMBERS, 2, lambda builder, x, y: builder.fcmp_unordered("!=", x, y))
_define(operator.neg, lanes, (lanes,), 1, lambda builder, x: builder.fneg(x))
_define(abs, lanes, (lanes,), 1, lambda builder, x: _call(builder, "fabs", x))
_define(operator.and_, mask, (mask,), 2, lambda builder, x, y: builder.and_(x, y))
_define(operator.or_, mask, (mask,), 2, lambda builder, x, y: builder.or_(x, y))
_define(operator.invert, mask, (mask,), 1, lambda builder, x: builder.not_(x))


def _data(context: Any, builder: Any, sig: Any, args: Any, i: int) -> Any:
    """Where the numbers of the array in argument i begin."""
    return context.make_array(sig.args[i])(context, builder, args[i]).data


def _place(builder: Any, data: Any, at: Any, n: int = WIDTH) -> Any:
    """The n numbers from data[at] on, as a place to load from and store to."""
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(_REAL, n).as_pointer())


def _row_of(builder: Any, index: Any, at: Any, lane: int, stride: int) -> Any:
    """Where the row index[at + lane] of an array with rows of `stride` numbers begins."""
    row = builder.load(builder.gep(index, [builder.add(at, ir.Constant(_I64, lane))]))
    return builder.mul(row, ir.Constant(_I64, stride))


def _transpose(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors of eight numbers, rows to columns, by three rounds of exchanges at distances 4, 2 and 1."""
    for s in (4, 2, 1):
        low = [k if not k & s else WIDTH + (k ^ s) for k in range(WIDTH)]
        high = [k | s if not k & s else WIDTH + k for k in range(WIDTH)]
        new = list(rows)
        for i in range(WIDTH):
            if not i & s:
                new[i] = _shuffle(builder, rows[i], rows[i | s], low)
                new[i | s] = _shuffle(builder, rows[i], rows[i | s], high)
        rows = new
    return rows


@intrinsic
def splat(typing: Any, x: Any) -> Any:
    """The same number in all lanes."""
    return lanes(types.float64), lambda context, builder, sig, args: _as_lanes(builder, args[0], types.float64)


@intrinsic
def select(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere; each lanes or a float."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if sig.return_type != lanes:
            return builder.select(*args)
        return builder.select(
            args[0], _as_lanes(builder, args[1], sig.args[1]), _as_lanes(builder, args[2], sig.args[2])
        )

    if condition == types.boolean:
        return types.float64(condition, types.float64, types.float64), emit
    return lanes(condition, x, y), emit


@intrinsic
def any_lane(typing: Any, condition: Any) -> Any:
    """Whether a condition holds in any lane."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if sig.args[0] == types.boolean:
            return args[0]
        whole = ir.IntType(WIDTH)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], whole), ir.Constant(whole, 0))

    return types.boolean(condition), emit


@intrinsic
def sqrt(typing: Any, x: Any) -> Any:
    """Square roots."""
    return x(x), lambda context, builder, sig, args: _call(builder, "sqrt", args[0])


@intrinsic
def load(typing: Any, array: Any, at: Any) -> Any:
    """array[at:at + 8] of all numbers of the array, in order; no bound is checked (here and below)."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(builder, _data(context, builder, sig, args, 0), args[1]), align=8)

    return lanes(array, types.int64), emit


@intrinsic
def store(typing: Any, array: Any, at: Any, x: Any) -> Any:
    """array[at:at + 8] = x."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _place(builder, _data(context, builder, sig, args, 0), args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, x), emit


@intrinsic
def load_triples(typing: Any, array: Any, at: Any) -> Any:
    """The first, second and third numbers of the eight triples from array[at] on."""
    result = types.UniTuple(lanes, 3)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, sig, args, 0)
        part = [
            builder.load(_place(builder, data, builder.add(args[1], ir.Constant(_I64, WIDTH * m))), align=8)
            for m in range(3)
        ]
        front = _shuffle(builder, part[0], part[1], range(2 * WIDTH))
        back = _shuffle(builder, part[2], _UNDEFINED, range(2 * WIDTH))
        columns = [_shuffle(builder, front, back, range(m, 3 * WIDTH, 3)) for m in range(3)]
        return context.make_tuple(builder, result, columns)

    return result(array, types.int64), emit


@intrinsic
def store_triples(typing: Any, array: Any, at: Any, columns: Any) -> Any:
    """The reverse of `load_triples`."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, sig, args, 0)
        column = cgutils.unpack_tuple(builder, args[2], 3)
        front = _shuffle(builder, column[0], column[1], range(2 * WIDTH))
        back = _shuffle(builder, column[2], _UNDEFINED, range(2 * WIDTH))
        for m in range(3):
            places = [k % 3 * WIDTH + k // 3 for k in range(WIDTH * m, WIDTH * (m + 1))]
            at = builder.add(args[1], ir.Constant(_I64, WIDTH * m))
            builder.store(_shuffle(builder, front, back, places), _place(builder, data, at), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, columns), emit


@intrinsic
def load_rows(typing: Any, array: Any, index: Any, at: Any) -> Any:
    """The eight columns of the rows index[at:at + 8] of an array with rows of eight numbers."""
    result = types.UniTuple(lanes, WIDTH)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, index = (_data(context, builder, sig, args, i) for i in (0, 1))
        rows = [
            builder.load(_place(builder, data, _row_of(builder, index, args[2], k, WIDTH)), align=8)
            for k in range(WIDTH)
        ]
        return context.make_tuple(builder, result, _transpose(builder, rows))

    return result(array, index, types.int64), emit


@intrinsic
def load_sixes(typing: Any, array: Any, index: Any, at: Any) -> Any:
    """The six columns of the rows index[at:at + 8] of an array with rows of six numbers."""
    result = types.UniTuple(lanes, 6)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, index = (_data(context, builder, sig, args, i) for i in (0, 1))
        rows = []
        for k in range(WIDTH):  # four and two, as they were written: what is on its way to memory is read sooner so
            at = _row_of(builder, index, args[2], k, 6)
            front = builder.load(_place(builder, data, at, 4), align=8)
            back = builder.load(_place(builder, data, builder.add(at, ir.Constant(_I64, 4)), 2), align=8)
            back = _shuffle(builder, back, ir.Constant(back.type, ir.Undefined), range(4))
            rows.append(_shuffle(builder, front, back, range(WIDTH)))
        return context.make_tuple(builder, result, _transpose(builder, rows)[:6])

    return result(array, index, types.int64), emit


@intrinsic
def add_sixes(typing: Any, array: Any, index: Any, at: Any, columns: Any) -> Any:
    """array[index[at + k]] += lane k of the six columns, k = 0 to 7 in turn."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, index = (_data(context, builder, sig, args, i) for i in (0, 1))
        column = cgutils.unpack_tuple(builder, args[3], 6)
        rows = _transpose(builder, [*column, _UNDEFINED, _UNDEFINED])
        for k in range(WIDTH):
            at = _row_of(builder, index, args[2], k, 6)
            for first, n in ((0, 4), (4, 2)):
                place = _place(builder, data, builder.add(at, ir.Constant(_I64, first)), n)
                change = _shuffle(builder, rows[k], _UNDEFINED, range(first, first + n))
                builder.store(builder.fadd(builder.load(place, align=8), change), place, align=8)
        return context.get_dummy_value()

    return types.void(array, index, types.int64, columns), emit


@intrinsic
def lane(typing: Any, x: Any, k: Any) -> Any:
    """The number in lane k, which may be a variable."""
    return types.float64(x, types.int64), lambda context, builder, sig, args: builder.extract_element(*args)


@intrinsic(prefer_literal=True)
def prefetch(typingctx: Any, array: Any, row: Any, lines: Any) -> Any:
    """Ask for `lines` (a literal) cache lines, from the beginning of array[row] on."""
    if not isinstance(array, types.Array) or not isinstance(lines, types.IntegerLiteral):
        return None
    count = lines.literal_value

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = context.make_array(sig.args[0])(context, builder, args[0])
        i32, i64, byte = ir.IntType(32), ir.IntType(64), ir.IntType(8)
        stride = cgutils.unpack_tuple(builder, values.strides)[0]
        place = builder.mul(context.cast(builder, args[1], sig.args[1], types.int64), stride)
        begin = builder.bitcast(values.data, byte.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), i32, i32, i32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        for line in range(count):
            at = builder.gep(begin, [builder.add(place, ir.Constant(i64, _LINE * line))])
            builder.call(ask, [at, ir.Constant(i32, 0), ir.Constant(i32, 3), ir.Constant(i32, 1)])
        return context.get_dummy_value()

    return types.void(array, row, lines), emit


def _without_numba() -> dict[str, Any]:
    """The functions above on arrays of eight numbers."""

    def store(array, at, x):
        array[at : at + WIDTH] = x

    def store_triples(array, at, columns):
        array[at : at + 3 * WIDTH] = np.stack(columns, axis=1).ravel()

    def add_sixes(array, index, at, columns):
        np.add.at(array.reshape(-1, 6), index[at : at + WIDTH], np.stack(columns, axis=1))

    return {
        "splat": lambda x: np.full(WIDTH, x),
        "select": lambda condition, x, y: np.asarray(np.where(condition, x, y))[()],
        "any_lane": np.any,
        "sqrt": np.sqrt,
        "lane": lambda x, k: x[k],
        "load": lambda array, at: array[at : at + WIDTH].copy(),
        "store": store,
        "load_triples": lambda array, at: tuple(array[at : at + 3 * WIDTH].reshape(WIDTH, 3).T.copy()),
        "store_triples": store_triples,
        "load_rows": lambda array, index, at: tuple(array.reshape(-1, WIDTH)[index[at : at + WIDTH]].T),
        "load_sixes": lambda array, index, at: tuple(array.reshape(-1, 6)[index[at : at + WIDTH]].T),
        "add_sixes": add_sixes,
        "prefetch": lambda array, row, lines: None,
    }


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    globals().update(_without_numba())


@njit
def sum_lanes(x):
    """The sum of the eight numbers, from the first to the last."""
    s = 0.0
    for k in range(WIDTH):
        s += lane(x, k)
    return s


@njit
def largest_lane(x):
    """The largest of the eight numbers."""
    s = lane(x, 0)
    for k in range(1, WIDTH):
        s = max(s, lane(x, k))
    return s


@njit
def aligned(rows, columns):
    """An array (rows, columns) of numbers that begins with a cache line: no line is read for two packs, or twice."""
    room = np.empty(rows * columns + WIDTH)
    skip = -(room.ctypes.data // 8) % WIDTH
    return room[skip : skip + rows * columns].reshape((rows, columns))
