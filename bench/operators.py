"""Each operator beside DALI's: 64 photographs of 500x375 (or what it takes), in one process.

Both get their inputs from an external source that copies nothing (on the GPU from arrays that are there), and take
turns; so the figures have the fixed cost of an iteration in them, about half a millisecond in either library.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.inputs import BATCH, THREADS, Inputs

SLOW = 0.8  # times DALI: what is listed behind the table

# What makes a graph: (fn, types, input) -> outputs. The input's kind is a method of `Inputs`.
Define = Callable[[Any, Any, Any], Any]
CASES: dict[str, list[tuple[str, str, Define]]] = {
    "arithmetic": [
        ("photos", "x * 1.5 + 2", lambda fn, t, x: x * 1.5 + 2),
        ("photos", "(x > 100) & (x < 200)", lambda fn, t, x: (x > 100) & (x < 200)),
    ],
    "subscript": [
        ("photos", "x[10:300, 20:400]", lambda fn, t, x: x[10:300, 20:400]),
        ("photos", "x[:, :, 0]", lambda fn, t, x: x[:, :, 0]),
    ],
    "bb_flip": [("boxes", "horizontal=1", lambda fn, t, x: fn.bb_flip(x, horizontal=1))],
    "audio_resample": [
        ("signals", "16 to 22.05 kHz", lambda fn, t, x: fn.audio_resample(x, in_rate=16000.0, out_rate=22050.0)),
    ],
    "batch_permutation": [("none", "", lambda fn, t, x: fn.batch_permutation())],
    "bbox_paste": [("boxes", "ratio 1.5", lambda fn, t, x: fn.bbox_paste(x, ratio=1.5))],
    "bbox_rotate": [
        ("boxes", "30 degrees", lambda fn, t, x: fn.bbox_rotate(x, angle=30.0, input_shape=(375, 500), keep_size=True))
    ],
    "box_encoder": [
        (
            "boxes", "1000 anchors",
            lambda fn, t, x: fn.box_encoder(
                x, t.Constant(np.arange(20, dtype=np.int32), device="cpu"), anchors=[k % 7 / 7 for k in range(4000)]
            ),
        )
    ],
    "brightness": [("photos", "1.2", lambda fn, t, x: fn.brightness(x, brightness=1.2))],
    "brightness_contrast": [
        ("photos", "1.2, 0.8", lambda fn, t, x: fn.brightness_contrast(x, brightness=1.2, contrast=0.8))
    ],
    "cast": [("photos", "FLOAT", lambda fn, t, x: fn.cast(x, dtype=t.FLOAT))],
    "cat": [("photos", "axis=1", lambda fn, t, x: fn.cat(x, x, axis=1))],
    "clahe": [
        ("photos", "8x8", lambda fn, t, x: fn.clahe(x, tiles_x=8, tiles_y=8, clip_limit=2.0)),
        ("photos", "gray", lambda fn, t, x: fn.clahe(x[:, :, 0:1], tiles_x=8, tiles_y=8, clip_limit=2.0)),
    ],
    "color_space_conversion": [
        (
            "photos", "RGB to YCbCr",
            lambda fn, t, x: fn.color_space_conversion(x, image_type=t.RGB, output_type=t.YCbCr),
        ),
        ("photos", "RGB to GRAY", lambda fn, t, x: fn.color_space_conversion(x, image_type=t.RGB, output_type=t.GRAY)),
    ],
    "color_twist": [
        (
            "photos", "all four",
            lambda fn, t, x: fn.color_twist(x, brightness=1.2, contrast=0.8, hue=20.0, saturation=1.1),
        )
    ],
    "contrast": [("photos", "0.8", lambda fn, t, x: fn.contrast(x, contrast=0.8))],
    "coord_flip": [("points", "", lambda fn, t, x: fn.coord_flip(x))],
    "coord_transform": [
        ("points", "rotation", lambda fn, t, x: fn.coord_transform(x, MT=[0.8, -0.6, 3.0, 0.6, 0.8, -1.0]))
    ],
    "copy": [("photos", "", lambda fn, t, x: fn.copy(x))],
    "crop": [("photos", "224", lambda fn, t, x: fn.crop(x, crop=(224, 224)))],
    "crop_mirror_normalize": [
        (
            "photos", "224, CHW",
            lambda fn, t, x: fn.crop_mirror_normalize(
                x, crop=(224, 224), mirror=1, mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0]
            ),
        )
    ],
    "debayer": [
        (
            "photos", "bilinear",
            lambda fn, t, x: fn.debayer(x[:374, :500, 0:1], blue_position=(0, 0), algorithm="bilinear_ocv"),
        ),
        (
            "photos", "gradients",
            lambda fn, t, x: fn.debayer(x[:374, :500, 0:1], blue_position=(0, 0), algorithm="vng_ocv"),
        ),
    ],
    "decoders.audio": [
        ("wavs", "WAV", lambda fn, t, x: tuple(fn.decoders.audio(x))),
        (
            "flacs", "FLAC to 8 kHz",
            lambda fn, t, x: tuple(fn.decoders.audio(x, downmix=True, sample_rate=8000.0)),
        ),
    ],
    "decoders.image": [("jpegs", "RGB", lambda fn, t, x: fn.decoders.image(x))],
    "decoders.image_crop": [("jpegs", "224", lambda fn, t, x: fn.decoders.image_crop(x, crop=(224, 224)))],
    "decoders.image_random_crop": [("jpegs", "", lambda fn, t, x: fn.decoders.image_random_crop(x))],
    "decoders.image_slice": [
        (
            "jpegs", "the middle",
            lambda fn, t, x: fn.decoders.image_slice(x, start=(100, 100), shape=(200, 300), axis_names="HW"),
        )
    ],
    "dump_image": [("photos", "", lambda fn, t, x: fn.dump_image(x[:40, :50], suffix="bench"))],
    "element_extract": [("videos", "3 of 8", lambda fn, t, x: fn.element_extract(x, element_map=[0, 3, 5]))],
    "equalize": [("photos", "", lambda fn, t, x: fn.equalize(x))],
    "erase": [
        (
            "photos", "one region",
            lambda fn, t, x: fn.erase(x, anchor=(100.0, 100.0), shape=(150.0, 200.0), axis_names="HW", fill_value=0),
        )
    ],
    "experimental.warp_perspective": [
        (
            "photos", "linear",
            lambda fn, t, x: fn.experimental.warp_perspective(x, matrix=[0.9, 0.1, 10, -0.1, 0.9, 20, 1e-4, 1e-4, 1]),
        ),
    ],
    "expand_dims": [("photos", "axes=[0]", lambda fn, t, x: fn.expand_dims(x, axes=[0]))],
    "fast_resize_crop_mirror": [
        (
            "photos", "256, 224",
            lambda fn, t, x: fn.fast_resize_crop_mirror(x, resize_shorter=256, crop=(224, 224), mirror=1),
        )
    ],
    "filter": [
        ("photos", "3x3", lambda fn, t, x: fn.filter(x, t.Constant(np.ones((3, 3), np.float32) / 9, device="cpu"))),
        ("photos", "7x7", lambda fn, t, x: fn.filter(x, t.Constant(np.ones((7, 7), np.float32) / 49, device="cpu"))),
    ],
    "flip": [
        ("photos", "horizontal", lambda fn, t, x: fn.flip(x, horizontal=1, vertical=0)),
        ("photos", "vertical", lambda fn, t, x: fn.flip(x, horizontal=0, vertical=1)),
    ],
    "full": [("none", "(375, 500, 3)", lambda fn, t, x: fn.full(7, shape=(375, 500, 3)))],
    "gaussian_blur": [
        ("photos", "window 5", lambda fn, t, x: fn.gaussian_blur(x, window_size=5)),
        ("photos", "sigma 3", lambda fn, t, x: fn.gaussian_blur(x, sigma=3.0)),
    ],
    "get_property": [("photos", "layout", lambda fn, t, x: fn.get_property(x, key="layout"))],
    "grid_mask": [("photos", "turned", lambda fn, t, x: fn.grid_mask(x, tile=50, angle=0.3))],
    "hsv": [("photos", "", lambda fn, t, x: fn.hsv(x, hue=30.0, saturation=1.2, value=0.9))],
    "hue": [("photos", "30", lambda fn, t, x: fn.hue(x, hue=30.0))],
    "jpeg_compression_distortion": [("photos", "", lambda fn, t, x: fn.jpeg_compression_distortion(x))],
    "laplacian": [
        ("photos", "window 3", lambda fn, t, x: fn.laplacian(x)),
        ("photos", "window 7, FLOAT", lambda fn, t, x: fn.laplacian(x, window_size=7, dtype=t.FLOAT)),
    ],
    "lookup_table": [
        (
            "photos", "to FLOAT",
            lambda fn, t, x: fn.lookup_table(x, keys=list(range(256)), values=[k / 7 for k in range(256)]),
        )
    ],
    "mel_filter_bank": [
        ("spectra", "80 bands", lambda fn, t, x: fn.mel_filter_bank(x, nfilter=80, sample_rate=16000.0)),
    ],
    "mfcc": [("mels", "13", lambda fn, t, x: fn.mfcc(x, n_mfcc=13, lifter=22.0))],
    "multi_paste": [
        (
            "photos", "4 over each other",
            lambda fn, t, x: fn.multi_paste(
                x, x, x, x, output_size=(750, 1000),
                shapes_rel=t.Constant(np.full((4, 2), 0.5, np.float32), device="cpu"),
            ),
        )
    ],
    "noise.gaussian": [("photos", "20", lambda fn, t, x: fn.noise.gaussian(x, stddev=20))],
    "noise.salt_and_pepper": [("photos", "", lambda fn, t, x: fn.noise.salt_and_pepper(x))],
    "noise.shot": [("photos", "", lambda fn, t, x: fn.noise.shot(x))],
    "nonsilent_region": [("signals", "-30 dB", lambda fn, t, x: tuple(fn.nonsilent_region(x, cutoff_db=-30)))],
    "normalize": [
        ("photos", "per sample", lambda fn, t, x: fn.normalize(x)),
        ("photos", "per channel, given", lambda fn, t, x: fn.normalize(x, mean=np.full((1, 1, 3), 120, np.float32),
         stddev=np.full((1, 1, 3), 60, np.float32), axes=[0, 1])),
        ("photos", "batch", lambda fn, t, x: fn.normalize(x, batch=True, axes=[0, 1])),
    ],
    "one_hot": [("labels", "1000 classes", lambda fn, t, x: fn.one_hot(x, num_classes=1000))],
    "pad": [("photos", "to 512x512", lambda fn, t, x: fn.pad(x, axis_names="HW", shape=(512, 512)))],
    "paste": [("photos", "ratio 1.5", lambda fn, t, x: fn.paste(x, ratio=1.5, fill_value=(50, 60, 70)))],
    "peek_image_shape": [("jpegs", "", lambda fn, t, x: fn.peek_image_shape(x))],
    "per_frame": [("videos", "", lambda fn, t, x: fn.per_frame(x))],
    "permute_batch": [
        ("photos", "reversed", lambda fn, t, x: fn.permute_batch(x, indices=list(range(BATCH))[::-1]))
    ],
    "power_spectrum": [("windows", "nfft 512", lambda fn, t, x: fn.power_spectrum(x))],
    "preemphasis_filter": [
        ("signals", "FLOAT", lambda fn, t, x: fn.preemphasis_filter(x)),
        ("pcm", "INT16 to FLOAT", lambda fn, t, x: fn.preemphasis_filter(x)),
    ],
    "random.beta": [("none", "(100000,)", lambda fn, t, x: fn.random.beta(alpha=2.0, beta=3.0, shape=(100000,)))],
    "random.choice": [("none", "(100000,)", lambda fn, t, x: fn.random.choice(100, shape=(100000,)))],
    "random.coin_flip": [("none", "(100000,)", lambda fn, t, x: fn.random.coin_flip(shape=(100000,)))],
    "random.normal": [("none", "(100000,)", lambda fn, t, x: fn.random.normal(shape=(100000,)))],
    "random.uniform": [("none", "(100000,)", lambda fn, t, x: fn.random.uniform(shape=(100000,)))],
    "random_bbox_crop": [
        (
            "boxes", "thresholds",
            lambda fn, t, x: fn.random_bbox_crop(
                x, bbox_layout="xyWH", scaling=[0.3, 1.0], aspect_ratio=[0.5, 2.0], thresholds=[0.0, 0.1, 0.3],
                all_boxes_above_threshold=False, num_attempts=20, total_num_attempts=100, quiet=True,
            ),
        )
    ],
    "random_crop_generator": [
        ("none", "", lambda fn, t, x: fn.random_crop_generator(t.Constant(np.array([375, 500]), device="cpu")))
    ],
    "random_resized_crop": [("photos", "224", lambda fn, t, x: fn.random_resized_crop(x, size=(224, 224)))],
    "reductions": [
        ("photos", "mean", lambda fn, t, x: fn.reductions.mean(x, axes=[0, 1])),
        ("photos", "max", lambda fn, t, x: fn.reductions.max(x)),
        ("photos", "sum of rows", lambda fn, t, x: fn.reductions.sum(x, axes=[1])),
        ("photos", "std_dev", lambda fn, t, x: fn.reductions.std_dev(x, fn.reductions.mean(x))),
    ],
    "reinterpret": [("photos", "INT8", lambda fn, t, x: fn.reinterpret(x, dtype=t.INT8))],
    "reshape": [("photos", "(-1, 3)", lambda fn, t, x: fn.reshape(x, shape=(-1, 3)))],
    "resize": [
        ("photos", "224", lambda fn, t, x: fn.resize(x, size=(224, 224))),
        ("photos", "1000, cubic", lambda fn, t, x: fn.resize(x, size=(800, 1000), interp_type=t.INTERP_CUBIC)),
    ],
    "resize_crop_mirror": [
        ("photos", "256, 224", lambda fn, t, x: fn.resize_crop_mirror(x, resize_shorter=256, crop=(224, 224), mirror=1))
    ],
    "roi_random_crop": [
        (
            "photos", "224",
            lambda fn, t, x: fn.roi_random_crop(x, roi_start=(99, 99), roi_shape=(50, 50), crop_shape=(224, 224)),
        )
    ],
    "rotate": [
        ("photos", "30 degrees", lambda fn, t, x: fn.rotate(x, angle=30.0, fill_value=0)),
        ("photos", "keep_size", lambda fn, t, x: fn.rotate(x, angle=10.0, keep_size=True)),
    ],
    "saturation": [("photos", "1.3", lambda fn, t, x: fn.saturation(x, saturation=1.3))],
    "segmentation.random_mask_pixel": [
        ("photos", "foreground", lambda fn, t, x: fn.segmentation.random_mask_pixel(x, foreground=1, threshold=128.0))
    ],
    "segmentation.random_object_bbox": [
        ("masks", "", lambda fn, t, x: fn.segmentation.random_object_bbox(x, format="box"))
    ],
    "segmentation.select_masks": [
        (
            "points", "2 of 10",
            lambda fn, t, x: fn.segmentation.select_masks(
                t.Constant(np.array([3, 8], np.int32), device="cpu"),
                t.Constant(np.array([(k, 100 * k, 100 * k + 100) for k in range(10)], np.int32), device="cpu"),
                x,
            ),
        )
    ],
    "sequence_rearrange": [
        ("videos", "reversed", lambda fn, t, x: fn.sequence_rearrange(x, new_order=[*range(7, -1, -1)]))
    ],
    "shapes": [("photos", "", lambda fn, t, x: fn.shapes(x))],
    "slice": [("photos", "", lambda fn, t, x: fn.slice(x, start=(50, 60), shape=(200, 300), axis_names="HW"))],
    "spectrogram": [
        (
            "signals", "nfft 512, window 400, step 160",
            lambda fn, t, x: fn.spectrogram(x, nfft=512, window_length=400, window_step=160),
        ),
        (
            "signals", "nfft 400, tf",
            lambda fn, t, x: fn.spectrogram(x, window_length=400, window_step=160, layout="tf"),
        ),
        (
            "signals", "to mel, dB, normalized",
            lambda fn, t, x: fn.normalize(
                fn.to_decibels(
                    fn.mel_filter_bank(
                        fn.spectrogram(x, nfft=512, window_length=400, window_step=160), nfilter=80, sample_rate=16000.0
                    ),
                    cutoff_db=-80,
                ),
                axes=[1],
            ),
        ),
    ],
    "sphere": [
        ("photos", "", lambda fn, t, x: fn.sphere(x)),
        ("photos", "linear", lambda fn, t, x: fn.sphere(x, interp_type=t.INTERP_LINEAR)),
    ],
    "squeeze": [("frames", "axes=[0]", lambda fn, t, x: fn.squeeze(x, axes=[0]))],
    "ssd_random_crop": [
        (
            "photos", "20 boxes",
            lambda fn, t, x: fn.ssd_random_crop(
                x, t.Constant(np.full((20, 4), [0.3, 0.3, 0.7, 0.7], np.float32), device="cpu"),
                t.Constant(np.arange(20, dtype=np.int32), device="cpu"), num_attempts=10,
            ),
        )
    ],
    "stack": [("photos", "", lambda fn, t, x: fn.stack(x, x))],
    "to_decibels": [
        ("mels", "", lambda fn, t, x: fn.to_decibels(x)),
        ("mels", "reference=1", lambda fn, t, x: fn.to_decibels(x, reference=1.0)),
    ],
    "transforms": [
        (
            "none", "combined",
            lambda fn, t, x: fn.transforms.combine(
                fn.transforms.rotation(angle=30.0), fn.transforms.scale(scale=(1.0, 2.0))
            ),
        )
    ],
    "tensor_resize": [
        ("photos", "scales 0.5", lambda fn, t, x: fn.tensor_resize(x, scales=[0.5, 0.5], axes=[0, 1])),
    ],
    "transpose": [("photos", "to CHW", lambda fn, t, x: fn.transpose(x, perm=[2, 0, 1]))],
    "water": [("photos", "", lambda fn, t, x: fn.water(x))],
    "warp_affine": [
        (
            "photos", "fill",
            lambda fn, t, x: fn.warp_affine(x, matrix=[0.9, 0.1, 10.0, -0.1, 0.9, 20.0], fill_value=0),
        ),
        (
            "photos", "nearest",
            lambda fn, t, x: fn.warp_affine(
                x, matrix=[0.9137, 0.1042, 10.0, -0.1042, 0.9137, 20.0], interp_type=t.INTERP_NN
            ),
        ),
    ],
}  # fmt: skip


# What DALI has on GPUs alone.
ON_GPU: dict[str, list[tuple[str, str, Define]]] = {
    "debayer": [
        (
            "photos", "along edges",
            lambda fn, t, x: fn.debayer(x[:374, :500, 0:1], blue_position=(0, 0), algorithm="default_npp"),
        )
    ],
    "experimental.dilate": [("photos", "5x5", lambda fn, t, x: fn.experimental.dilate(x, mask_size=(5, 5)))],
    "experimental.erode": [("photos", "5x5", lambda fn, t, x: fn.experimental.erode(x, mask_size=(5, 5)))],
    "experimental.median_blur": [
        ("photos", "5x5", lambda fn, t, x: fn.experimental.median_blur(x, window_size=(5, 5)))
    ],
    "experimental.remap": [
        ("photos", "a wave", lambda fn, t, x: fn.experimental.remap(x, *_wave(t, x.device), pixel_origin="center"))
    ],
    "jitter": [("photos", "9", lambda fn, t, x: fn.jitter(x, nDegree=9))],
}  # fmt: skip


def _wave(t: Any, device: str) -> list[Any]:
    """Maps of x and y for photographs."""
    y, x = np.mgrid[:375, :500].astype(np.float32)
    maps = [x + 8 * np.sin(y / 20, dtype=np.float32), y + 8 * np.cos(x / 20, dtype=np.float32)]
    return [t.Constant(one, device=device) for one in maps]


def on_gpu(arrays: list[Any]) -> list[Any]:
    """These on the first GPU."""
    import torch

    return [torch.from_numpy(np.ascontiguousarray(array)).cuda() for array in arrays]


def _pipeline(
    library: str, define: Define, given: tuple[list[Any], str] | None, threads: int = THREADS, gpu: bool = False
) -> Any:
    module = importlib.import_module(library)
    device = {"device": "gpu"} if gpu else {}
    pipe = module.Pipeline(batch_size=BATCH, num_threads=threads, device_id=0 if gpu else None, prefetch_queue_depth=2)
    with pipe:
        data = None
        if given:
            arrays, layout = given
            data = module.fn.external_source(lambda: arrays, layout=layout or None, no_copy=True, **device)
        outputs = define(module.fn, module.types, data)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    return pipe


def batches_of(library: str, name: str, number: int, folder: str) -> Callable[[], object]:
    """What gives the next batch of an operator's case."""
    warnings.simplefilter("ignore")
    kind, _, define = CASES[name][number]
    pipe = _pipeline(library, define, Inputs(Path(folder)).of(kind))
    return lambda: pipe.run()


def times(
    define: Define, given: Any, rounds: int, seconds: float, threads: int = THREADS, gpu: bool = False
) -> tuple[float, float, float]:
    """Milliseconds a batch of Penstock and of DALI, and the median of the rounds' ratios."""
    with _scratch():
        return _times(define, given, rounds, seconds, threads, gpu)


@contextlib.contextmanager
def _scratch() -> Iterator[None]:
    """In a folder of its own: dump_image writes where the process is."""
    place = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(place)


def _times(
    define: Define, given: Any, rounds: int, seconds: float, threads: int, gpu: bool
) -> tuple[float, float, float]:
    pipes = [_pipeline(library, define, given, threads, gpu) for library in ("penstock", "nvidia.dali")]
    wait = _nothing
    if gpu:
        import torch

        wait = torch.cuda.synchronize
    rows = []
    for round_number in range(rounds + 1):  # the first one warms up
        row = []
        for pipe in pipes:
            wait()
            count, begin = 0, time.perf_counter()
            while time.perf_counter() - begin < seconds or count < 4:
                pipe.run()
                count += 1
            wait()
            row.append(1000 * (time.perf_counter() - begin) / count)
        if round_number:
            rows.append(row)
    del pipes
    gc.collect()
    ours, dalis = (statistics.median(row[i] for row in rows) for i in range(2))
    return ours, dalis, statistics.median(row[1] / row[0] for row in rows)


def _nothing() -> None:
    pass


def rows(
    folder: Path, rounds: int, seconds: float, only: Sequence[str] = (), threads: int = THREADS, gpu: bool = False
) -> Iterator[list[str]]:
    """Cells of a table: operator, arguments, ms a batch of each, and how many times as fast as DALI's ours is.

    ``only``: of operators whose names have one of these in them. On the GPU without decoders, and without what either
    library has on the CPU alone. The last rows are about all of them.
    """
    warnings.simplefilter("ignore")
    inputs = Inputs(folder)
    ratios: list[tuple[float, str]] = []
    for name, cases in {**CASES, **(ON_GPU if gpu else {})}.items():
        for kind, what, define in cases:
            if (only and not any(part in name for part in only)) or (
                gpu and kind in ("none", "jpegs", "wavs", "flacs")
            ):
                continue
            given = inputs.of(kind)
            if gpu and given:
                given = on_gpu(given[0]), given[1]
            try:
                ours, dalis, ratio = times(define, given, rounds, seconds, threads, gpu)
            except (RuntimeError, ValueError, TypeError) as e:
                if not gpu:
                    raise
                yield [name, what, "-", "-", str(e).splitlines()[0][:60]]
                continue
            ratios.append((ratio, f"{name} {what}".strip()))
            yield [name, what, f"{ours:.2f}", f"{dalis:.2f}", f"{ratio:.2f}"]
    if not ratios:
        return
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
    yield ["geometric mean", f"of {len(ratios)}", "", "", f"{mean:.2f}"]
    slow = sorted(one for one in ratios if one[0] < SLOW)
    yield [f"below {SLOW}", "; ".join(f"{what}: {ratio:.2f}" for ratio, what in slow) or "none", "", "", str(len(slow))]
