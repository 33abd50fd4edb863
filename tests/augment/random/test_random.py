"""What all of fn.random have in common: on what the numbers depend, and the old names."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from penstock import DataNode, Pipeline, fn, ops
from tests.augment.drawing import draw


def test_numbers_depend_on_seed_operator_epoch_and_sample_alone(tmp_path: Path) -> None:
    for name in "abcdef":
        (tmp_path / name).write_bytes(b"x")

    def make() -> DataNode:
        files, _ = fn.readers.file(file_root=str(tmp_path), files=list("abcdef"))
        return fn.random.uniform(files, shape=None)

    two_epochs = draw(make, batch_size=1, batches=12)
    assert len(np.unique(two_epochs)) == 12
    assert np.array_equal(draw(make, batch_size=4, batches=3, threads=3), two_epochs)
    assert np.array_equal(draw(make, batch_size=6, batches=2, threads=2), two_epochs)
    assert not np.isin(draw(make, batch_size=6, seed=6), two_epochs).any()


def test_operators_differ_unless_they_have_the_same_seed() -> None:
    pipe = Pipeline(batch_size=8, num_threads=1, device_id=None, seed=5)
    with pipe:
        pipe.set_outputs(*[fn.random.uniform() for _ in range(2)], *[fn.random.uniform(seed=9) for _ in range(2)])
    a, b, c, d = (o.as_array() for o in pipe.run())
    assert not np.isin(a, b).any()
    assert np.array_equal(c, d)
    assert np.array_equal(draw(lambda: fn.random.uniform(seed=9), batch_size=8, seed=77), c)


def test_old_names() -> None:
    for make in (
        fn.uniform,
        fn.coin_flip,
        fn.normal_distribution,
        ops.Uniform(),
        ops.CoinFlip(),
        ops.NormalDistribution(),
    ):
        assert draw(make, batch_size=3).shape == (3,)
    assert np.array_equal(draw(lambda: ops.Uniform(range=(2, 3))()), draw(lambda: fn.random.uniform(range=[2, 3])))
