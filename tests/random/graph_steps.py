"""What random graphs grow by: readers, operators of the registry, branches, random numbers, ways to a GPU and back."""

from __future__ import annotations

from collections.abc import Callable

from penstock.op import registry
from tests.random import cases
from tests.random.calls import call, inputs_of, moved
from tests.random.case import Branch
from tests.random.cases import operators
from tests.random.draw import Draw, Input
from tests.random.fitting import fits
from tests.random.readers import reading

FUSED = ("sampler", "pixel", "store")
RANDOM = (
    ("random.uniform", "range=[0.0, 2.0]"), ("random.uniform", "values=[1.0, 3.0, 5.0]"), ("random.normal", ""),
    ("random.coin_flip", ""), ("random.beta", "alpha=0.5"), ("random.choice", "7"), ("batch_permutation", ""),
    ("random.uniform", "range=[-1.0, 1.0], shape=[2, 3]"), ("random_crop_generator", ""),
)  # fmt: skip
BY_CHANCE = (
    ("flip", {"horizontal": "fn.random.coin_flip(SEED)"}),
    ("crop", {"crop": "[5, 4]", "crop_pos_x": "fn.random.uniform(SEED)", "out_of_bounds_policy": "'pad'"}),
    ("resize", {"size": "fn.random.uniform(range=[3.0, 20.0], shape=[2]SEED)"}),
    ("brightness_contrast", {"brightness": "fn.random.uniform(range=[0.5, 1.5]SEED)"}),
    ("rotate", {"angle": "fn.random.uniform(range=[-40.0, 40.0]SEED)", "keep_size": "True"}),
    ("random_resized_crop", {"size": "[7, 8]"}),
    ("jpeg_compression_distortion", {"quality": "fn.random.choice(100SEED)"}),
    ("noise.gaussian", {"stddev": "fn.random.uniform(SEED)"}),
)  # fmt: skip
# Of a value X, with the same type and number of axes: what may stand in one branch where another of them is the other.
VARIANTS = (
    "X", "fn.flip(X, horizontal=1)", "fn.flip(X, horizontal=fn.random.coin_flip())", "fn.copy(X)", "X + X - X",
    "fn.cast_like(X * fn.random.uniform(range=[0.5, 1.5]), X)", "fn.permute_batch(X, indices=[0])",
    "fn.pad(X, axes=[0], align=4)", "fn.slice(X, rel_start=[0.25], rel_end=[1.0], axes=[0])",
)  # fmt: skip
Step = Callable[[Draw, list[Input]], None]


def root(d: Draw, gpu: bool = False) -> Input:
    """A picture, from a file mostly; ``gpu``: there."""
    decoder = {"device": "'mixed'"} if gpu and d.chance(0.8) else {}
    if d.chance(0.45):
        seed = {"seed": str(d.whole(0, 9))} if d.chance(0.3) else {}
        policy = d.choose([{}, {"random_shuffle": "True"}, {"num_shards": "2", "shard_id": "1"},
                           {"pad_last_batch": "True"}, {"sampler": "[3, 1, 4, 1, 5]"},
                           {"shuffle_after_epoch": "True"}])  # fmt: skip
        reader = d.call("fn.readers.file", [], {"files": "FILES", **policy, **seed})
        encoded = Input(f"{reader.name}[0]", (31, 33, 3), "HWC", "uint8")
        if decoder:
            made = d.call("fn.decoders.image", [encoded.name], decoder)
            return Input(made.name, (9, 9, 3), "HWC", "uint8", "gpu")
        name = d.choose(["decoders.image", "decoders.image_random_crop"])
        found = Input(call(d, registry.ops[name], ["seed"], encoded).name, (9, 9, 3), "HWC", "uint8")
    elif d.chance(0.3):
        name = d.choose(["decoders.image", "decoders.image_crop"])
        found = call(d, registry.ops[name], ["output_type"])
    else:
        found = inputs_of(d, registry.ops["resize"])[0][0]
    return moved(d, found, "gpu") if gpu else found


def stored(d: Draw) -> None:
    """A reader of files of another kind, or a decoder of sounds or arrays."""
    batch, first = d.batch, len(d.values)
    reading(d)
    d.batch = batch
    made = d.values[-1]
    if len(d.values) == first + 1 and d.chance(0.5):  # a reader
        d.values.pop()
        given = dict(made.arguments)  # type: ignore[union-attr]
        given.setdefault(d.choose(["random_shuffle", "shuffle_after_epoch"]), "True")
        d.call(made.function, (), given)  # type: ignore[union-attr]


def chain(d: Draw, pool: list[Input]) -> None:
    """An operator that can be fused behind one of the pool's pictures."""
    x = d.choose(pool[-3:])
    names = [name for name in _unary(x) if registry.ops[name].contract.value in FUSED]
    name = d.choose([n for n in names if fits(n, x)] or names)
    pool.append(call(d, registry.ops[name], _arguments(name), replaced(x)))


def anything(d: Draw, pool: list[Input]) -> None:
    """Any operator, of inputs of its own or with one of the pool as its first."""
    name, x = d.choose(operators()), d.choose(pool)
    takes = name in _unary(x) and d.chance(0.5)  # several inputs go together
    pool.append(call(d, registry.ops[name], _arguments(name), replaced(x) if takes else None))


def arithmetic(d: Draw, pool: list[Input]) -> None:
    """On one of the pool, or any."""
    if d.chance(0.3):
        return cases.arithmetic(d) if d.chance(0.6) else cases.slicing(d)
    x = d.choose(pool)
    other = d.choose(["2", "0.5", "np.float32(3)", "fn.random.uniform(range=[0.5, 2.0])", "fn.random.coin_flip()"])
    made = replaced(x)
    made.name = d.call(f"operator.{d.choose(['mul', 'add', 'sub'])}", [x.name, other]).name
    made.dtype = "int32" if other == "2" and "float" not in x.dtype else "float32"
    pool.append(made)
    return None


def split(d: Draw, pool: list[Input]) -> None:
    """Some samples are turned over, by chance."""
    x = d.choose(pool)
    number = d.call("fn.random.coin_flip", [], {"dtype": "types.BOOL"})
    parts = d.call("fn._conditional.split", [x.name], {"predicate": number.name})
    left = f"fn.flip({parts.name}[0], horizontal=fn.random.coin_flip())"
    made = replaced(x)
    made.name = d.call("fn._conditional.merge", [left, f"{parts.name}[1]"], {"predicate": number.name}).name
    pool.append(made)


def branch(d: Draw, pool: list[Input]) -> None:
    """Python's `if`, by random numbers: what is within one may decide again."""
    x = d.choose(pool)
    conditions = [d.call("fn.random.uniform", [], {"range": "[0.0, 1.0]"}).name for _ in range(d.whole(1, 2))]
    texts = [f"{name} {d.choose(['<', '>='])} {d.choose([0.2, 0.5, 0.8, 2.0])}" for name in conditions]
    condition = d.choose(["{}", "not {}"]).format(texts[0])
    if len(texts) > 1:
        condition += f" {d.choose(['and', 'or'])} {texts[1]}"
    one, other, inner = (text.replace("X", x.name) for text in d.some(VARIANTS, 3))  # else nothing is decided
    if d.chance(0.3):
        other = f"({other} if {texts[-1]} else {inner})"
    made = replaced(x)
    made.name = d.new_name()
    made.shape = tuple(min(e, 4) for e in x.shape)
    d.values.append(Branch(made.name, condition, one, other, d.chance(0.5)))
    pool.append(made)


def random_numbers(d: Draw, pool: list[Input]) -> None:
    """For their own sake."""
    name, arguments = d.choose([one for one in RANDOM if one[0] in registry.ops])
    on_gpu = any(x.device == "gpu" for x in pool) and "gpu" in registry.ops[name].devices and d.chance(0.5)
    words = ([arguments] if arguments else []) + (["device='gpu'"] if on_gpu else [])
    d.call(f"fn.{name}", words, {"seed": str(d.whole(0, 99))} if d.chance(0.4) else {})


def by_chance(d: Draw, pool: list[Input]) -> None:
    """Arguments that are random numbers."""
    x = d.choose(pool)
    seed = f", seed={d.whole(0, 9)}" if d.chance(0.3) else ""
    function, arguments = d.choose(BY_CHANCE)
    given = {name: text.replace("(SEED)", f"({seed[2:]})").replace("SEED", seed) for name, text in arguments.items()}
    if function == "random_resized_crop" and seed:
        given["seed"] = seed[7:]
    made = replaced(x)
    made.name = d.call(f"fn.{function}", [x.name], given).name
    made.shape = tuple(min(e, 4) for e in x.shape)
    pool.append(made)


def elsewhere(d: Draw, pool: list[Input]) -> None:
    """From the CPU to the GPU, or back."""
    x = d.choose(pool)
    pool.append(moved(d, x, "cpu" if x.device == "gpu" else "gpu"))


def facts(d: Draw, pool: list[Input]) -> None:
    """What is known of a value beside its elements."""
    x = d.choose(pool)
    d.call(*d.choose([("fn.shapes", [x.name]), ("fn.get_property", [x.name], {"key": "'layout'"}),
                      ("fn.get_property", [x.name], {"key": "'source_info'"})]))  # fmt: skip


def from_files(d: Draw, pool: list[Input]) -> None:
    """A reader whose outputs are those of the graph."""
    stored(d)


STEPS: tuple[Step, ...] = (
    chain, chain, chain, chain, anything, anything, anything, anything, arithmetic, split, branch, random_numbers,
    by_chance, from_files, facts,
)  # fmt: skip
GPU_STEPS: tuple[Step, ...] = (
    chain, chain, chain, anything, anything, arithmetic, split, branch, random_numbers, by_chance, elsewhere, elsewhere,
)  # fmt: skip


def replaced(x: Input) -> Input:
    """A copy, whose name may be set."""
    return Input(x.name, x.shape, x.layout, x.dtype, x.device)


def _unary(x: Input) -> list[str]:
    """Operators of one input that run where it is."""
    return [n for n in operators() if registry.ops[n].num_inputs == (1, 1) and x.device in registry.ops[n].devices]


def _arguments(name: str) -> list[str]:
    return [a for a in registry.ops[name].arguments if a not in ("save_attrs", "preserve", "device")]
