"""Random graphs: operators of the registry that read each other's outputs, readers, branches, random numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.op import registry
from tests.random.calls import call, inputs_of
from tests.random.case import Call, Source
from tests.random.cases import operators
from tests.random.draw import Draw, Input
from tests.random.fitting import fits

RANDOM = (
    ("random.uniform", "range=[0.0, 2.0]"), ("random.uniform", "values=[1.0, 3.0, 5.0]"), ("random.normal", ""),
    ("random.coin_flip", ""), ("random.beta", "alpha=0.5"), ("random.choice", "7"), ("batch_permutation", ""),
    ("random.uniform", "range=[-1.0, 1.0], shape=[2, 3]"), ("random_crop_generator", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Graph:
    """Sources and calls in order, and which of them are the outputs. Sources are fed: they have their names."""

    values: tuple[Source | Call, ...]
    batch: int
    outputs: tuple[str, ...]

    def lines(self) -> list[str]:
        """Each defines one value."""
        layout = {v.name: f", layout={v.layout!r}" for v in self.values if isinstance(v, Source) and v.layout}
        return [
            f"{v.name} = fn.external_source(name={v.name!r}{layout.get(v.name, '')})" if isinstance(v, Source)
            else v.text() for v in self.values
        ]  # fmt: skip

    def text(self) -> str:
        """The definition, in a function that gives the outputs."""
        return "\n    ".join(["def define():", *self.lines(), f"return flat([{', '.join(self.outputs)}])"])

    def sources(self) -> list[Source]:
        """Those that are fed."""
        return [value for value in self.values if isinstance(value, Source)]

    def giving(self, *outputs: str) -> Graph:
        """What these outputs need."""
        needed, kept = set(outputs), []
        for value in reversed(self.values):
            if value.name in needed:
                needed |= value.used()
                kept.append(value)
        return replace(self, values=tuple(reversed(kept)), outputs=outputs)

    def __str__(self) -> str:
        fed = [f"# {source.name} is fed: {', '.join(source.samples)}" for source in self.sources()]
        return "\n".join([f"# batch_size={self.batch}", *fed, self.text()])


def draw(seed: int, number: int) -> Graph:
    """Each seed and number is one graph."""
    d = Draw([seed, number, 7])
    d.batch = d.choose([2, 2, 3, 4])
    pool = [root(d) for _ in range(d.whole(1, 3))]
    for _ in range(d.whole(2, 8)):
        step = d.choose(
            [chain, chain, chain, anything, anything, anything, arithmetic, branch, random_numbers, by_chance]
        )
        before = len(d.values)
        try:
            step(d, pool)
        except (LookupError, ValueError):  # arguments cannot be drawn for such an input
            del d.values[before:]
            d.first = None
    names = [value.name for value in d.values if isinstance(value, Call)]
    used = {name for value in d.values for name in value.used()}
    leaves = [name for name in names if name not in used] or names[-1:]
    some = [name for name in names if name in used and d.chance(0.1)]
    return Graph(tuple(d.values), d.batch, tuple((leaves + some)[-6:]))


def root(d: Draw) -> Input:
    """A picture, from a file mostly."""
    if d.chance(0.45):
        seed = {"seed": str(d.whole(0, 9))} if d.chance(0.3) else {}
        policy = d.choose([{}, {"random_shuffle": "True"}, {"num_shards": "2", "shard_id": "1"},
                           {"pad_last_batch": "True"}, {"sampler": "[3, 1, 4, 1, 5]"}])  # fmt: skip
        reader = d.call("fn.readers.file", [], {"files": "FILES", **policy, **seed})
        decoder = d.choose(["decoders.image", "decoders.image_random_crop"])
        made = call(d, registry.ops[decoder], ["seed"], Input(f"{reader.name}[0]", (31, 33, 3), "HWC", "uint8"))
        return Input(made.name, (9, 9, 3), "HWC", "uint8")
    if d.chance(0.3):
        name = d.choose(["decoders.image", "decoders.image_crop"])
        return call(d, registry.ops[name], ["output_type"])
    return inputs_of(d, registry.ops["resize"])[0][0]


def chain(d: Draw, pool: list[Input]) -> None:
    """An operator that can be fused behind one of the pool's pictures."""
    x = d.choose(pool[-3:])
    fused = ("sampler", "pixel", "store")
    names = [name for name in operators() if registry.ops[name].contract.value in fused and _is_unary(name)]
    name = d.choose([n for n in names if fits(n, x)] or names)
    pool.append(call(d, registry.ops[name], _arguments(name), replaced(x)))


def anything(d: Draw, pool: list[Input]) -> None:
    """Any operator, of inputs of its own or with one of the pool as its first."""
    name = d.choose(operators())
    first = replaced(d.choose(pool)) if _is_unary(name) and d.chance(0.5) else None  # several inputs go together
    pool.append(call(d, registry.ops[name], _arguments(name), first))


def arithmetic(d: Draw, pool: list[Input]) -> None:
    x = d.choose(pool)
    other = d.choose(["2", "0.5", "np.float32(3)", "fn.random.uniform(range=[0.5, 2.0])", "fn.random.coin_flip()"])
    made = replaced(x)
    made.name = d.call(f"operator.{d.choose(['mul', 'add', 'sub'])}", [x.name, other]).name
    made.dtype = "int32" if other == "2" and "float" not in x.dtype else "float32"
    pool.append(made)


def branch(d: Draw, pool: list[Input]) -> None:
    """Some samples are turned over, by chance."""
    x = d.choose(pool)
    number = d.call("fn.random.coin_flip", [], {"dtype": "types.BOOL"})
    split = d.call("fn._conditional.split", [x.name], {"predicate": number.name})
    left = d.call("fn.flip", [f"{split.name}[0]"], {"horizontal": "fn.random.coin_flip()"})
    made = replaced(x)
    made.name = d.call("fn._conditional.merge", [left.name, f"{split.name}[1]"], {"predicate": number.name}).name
    pool.append(made)


def random_numbers(d: Draw, pool: list[Input]) -> None:
    """For their own sake."""
    name, arguments = d.choose([one for one in RANDOM if one[0] in registry.ops])
    words = [arguments] if arguments else []
    d.call(f"fn.{name}", words, {"seed": str(d.whole(0, 99))} if d.chance(0.4) else {})


def by_chance(d: Draw, pool: list[Input]) -> None:
    """Arguments that are random numbers."""
    x, made = d.choose(pool), None
    seed = f", seed={d.whole(0, 9)}" if d.chance(0.3) else ""
    function, arguments = d.choose([
        ("flip", {"horizontal": "fn.random.coin_flip(SEED)"}),
        ("crop", {"crop": "[5, 4]", "crop_pos_x": "fn.random.uniform(SEED)", "out_of_bounds_policy": "'pad'"}),
        ("resize", {"size": "fn.random.uniform(range=[3.0, 20.0], shape=[2]SEED)"}),
        ("brightness_contrast", {"brightness": "fn.random.uniform(range=[0.5, 1.5]SEED)"}),
        ("rotate", {"angle": "fn.random.uniform(range=[-40.0, 40.0]SEED)", "keep_size": "True"}),
        ("random_resized_crop", {"size": "[7, 8]"} | ({"seed": seed[7:]} if seed else {})),
        ("jpeg_compression_distortion", {"quality": "fn.random.choice(100SEED)"}),
        ("noise.gaussian", {"stddev": "fn.random.uniform(SEED)"}),
    ])  # fmt: skip
    given = {name: text.replace("(SEED)", f"({seed[2:]})").replace("SEED", seed) for name, text in arguments.items()}
    made = replaced(x)
    made.name = d.call(f"fn.{function}", [x.name], given).name
    made.shape = tuple(min(e, 4) for e in x.shape)
    pool.append(made)


def replaced(x: Input) -> Input:
    """A copy, whose name may be set."""
    return Input(x.name, x.shape, x.layout, x.dtype)


def _is_unary(name: str) -> bool:
    return registry.ops[name].num_inputs == (1, 1)


def _arguments(name: str) -> list[str]:
    return [a for a in registry.ops[name].arguments if a not in ("save_attrs", "preserve", "device")]
