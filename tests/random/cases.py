"""The cases by their numbers: each seed and number is one case, whichever were tried before."""

from __future__ import annotations

from penstock import _catalog
from penstock.feed.input_op import InputOp
from penstock.op import registry
from tests.random.calls import call, inputs_of
from tests.random.case import Case
from tests.random.draw import DTYPES, Draw, tensor
from tests.random.fitting import fits
from tests.random.readers import reading

BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift", "eq", "ne",
    "lt", "le", "gt", "ge",
)  # fmt: skip
FUNCTIONS = (
    "sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "abs", "fabs", "floor", "ceil", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
TWO = ("min", "max", "pow", "fpow", "atan2")
WITHOUT = (
    "python_function",
    "dl_tensor_python_function",
    "readers.file",
    "get_property",
    "shapes",
    "ssd_random_crop",
    "dump_image",
    "decoders.audio",
    "decoders.numpy",
    "decoders.inflate",
)  # tried elsewhere: their results are not arrays' alone


def operators() -> list[str]:
    _catalog.load()
    return [
        name
        for name, cls in registry.public().items()
        if name not in WITHOUT and "readers." not in name and not name.startswith("io.")
        if not issubclass(cls, InputOp)  # they wait for what nobody feeds
    ]


def draw(seed: int, number: int, known: dict[str, list[str]]) -> Case:
    """``known``: the operators' arguments in DALI. Operators that it does not know are left out."""
    d = Draw([seed, number])
    kind = number % 10
    if kind < 6:
        names = [name for name in operators() if name in known]
        name = names[(number // 10 * 6 + kind) % len(names)]
        call(d, registry.ops[name], known[name])
    elif kind < 8:
        arithmetic(d)
    elif kind == 8:
        slicing(d)
    elif number // 10 % 2:
        reading(d)
    else:
        chain(d, known)
    return d.case()


def operand(d: Draw, shape: list[int]) -> str:
    if d.chance(0.3):
        number = d.choose([0, 1, 2, 3, 7, -1, -3, 200, -100])
        dtype, size = d.choose(DTYPES[:-1]), abs(number)
        scalar = f"np.{dtype}({min(size, 127) if dtype == 'int8' else size})"
        literal = d.choose([repr(number), repr(number + 0.5), "True", scalar])
        return f"types.Constant({number})" if d.chance(0.1) else literal
    own = [1 if d.chance(0.15) else extent for extent in shape][d.whole(0, len(shape)) * d.chance(0.2) :]
    array = f"noise({d.choose(DTYPES)!r}, {tuple(own)}, {d.whole(0, 999)}, {d.choose([3, 9, 9, 255, 2**31 - 1])})"
    return d.source([array] * d.batch, "ABCDE"[5 - len(own) :] if d.chance(0.2) else "").name


def alone(d: Draw) -> str:
    """An array that is no node."""
    return f"noise({d.choose(DTYPES)!r}, {(d.whole(1, 4),)}, {d.whole(0, 99)}, 9)"


def arithmetic(d: Draw) -> None:
    """A node and another operand, or a function of nodes."""
    shape = [d.whole(1, 9) for _ in range(d.whole(0, 4))]
    first = d.source([d.array(d.choose(DTYPES), shape)] * d.batch).name
    if d.chance(0.2):
        d.call(f"math.{d.choose(FUNCTIONS)}", [alone(d) if d.chance(0.07) else first])
    elif d.chance(0.15):
        d.call(f"math.{d.choose(TWO)}", [alone(d) if d.chance(0.1) else first, operand(d, shape)])
    elif d.chance(0.05):
        d.call("math.clamp", [first, operand(d, shape), operand(d, shape)])
    elif d.chance(0.05):
        d.call(f"operator.{d.choose(['neg', 'pos', 'invert'])}", [first])
    else:
        d.call(f"operator.{d.choose(BINARY)}", d.some([first, operand(d, shape)], 2))


def slicing(d: Draw) -> None:
    x = tensor(d, 1)
    keys = []
    for extent in x.shape[: d.whole(1, len(x.shape))]:
        if d.chance(0.1):
            keys.append("newaxis" if d.chance(0.3) else "None")
        keys.append(index(d, extent) if d.chance(0.35) else span(d, extent))
    if d.chance(0.03):
        keys.append(index(d, 3))
    d.call("operator.getitem", [x.name, keys[0] if len(keys) == 1 and d.chance(0.5) else f"({', '.join(keys)},)"])


def index(d: Draw, extent: int) -> str:
    most = extent if d.chance(0.05) else max(0, extent - 1)
    number = f"{d.whole(-extent, most)}"
    return d.repeated(f"np.int32({number})") if d.chance(0.2) else number


def span(d: Draw, extent: int) -> str:
    ends = [index(d, extent) if d.chance(0.6) else "None" for _ in range(2)]
    step = f"{d.choose([1, 2, 3, -1, -2])}" if d.chance(0.25) else "None"
    return f"slice({', '.join([*ends, step])})"


def chain(d: Draw, known: dict[str, list[str]]) -> None:
    """Pictures through several operators, or arithmetic on them."""
    samplers = [
        n for n in operators() if registry.ops[n].contract.value in ("sampler", "pixel", "store") and n in known
    ]
    samplers = [n for n in samplers if registry.ops[n].num_inputs == (1, 1) and not registry.ops[n].random]
    if d.chance(0.4):
        x = call(d, registry.ops[d.choose(["decoders.image", "decoders.image_crop"])], ["output_type"])
    else:
        x = inputs_of(d, registry.ops["resize"])[0][0]
    for _ in range(d.whole(2, 4)):
        name = d.choose([n for n in samplers if fits(n, x)] if d.chance(0.95) else samplers)
        x = call(d, registry.ops[name], [a for a in known[name] if a != "save_attrs"], x)  # which adds an output
        if d.chance(0.15):
            number = d.choose(["2", "0.5", "100"])
            x.name = d.call(f"operator.{d.choose(['mul', 'add', 'sub'])}", [x.name, number]).name
            x.dtype = "float32" if number == "0.5" or "float" in x.dtype else "int32"
