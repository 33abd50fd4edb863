"""Runs in a fresh environment (trial.py): writes files with other packages, then decodes them with Penstock alone."""

from __future__ import annotations

import io
import math
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np

EXACT = 0
PICTURES: dict[str, tuple[str, dict[str, Any], int]] = {  # format, how it is saved, how far decoders may be apart
    "photograph.jpg": ("JPEG", {"quality": 92}, 4),
    "progressive.jpg": ("JPEG", {"quality": 92, "progressive": True}, 4),
    "picture.png": ("PNG", {}, EXACT),
    "picture.webp": ("WEBP", {"lossless": True}, EXACT),
    "lossy.webp": ("WEBP", {"quality": 90}, EXACT),
    "picture.tif": ("TIFF", {}, EXACT),
    "deflate.tif": ("TIFF", {"compression": "tiff_adobe_deflate"}, EXACT),
    "lzw.tif": ("TIFF", {"compression": "tiff_lzw"}, EXACT),
    "lzma.tif": ("TIFF", {"compression": "lzma"}, EXACT),
    "zstd.tif": ("TIFF", {"compression": "zstd"}, EXACT),
    "jpeg.tif": ("TIFF", {"compression": "jpeg"}, 4),
    "picture.jp2": ("JPEG2000", {"irreversible": False}, EXACT),
    "picture.bmp": ("BMP", {}, EXACT),
}
SOUNDS = {"sound.flac": "FLAC", "vorbis.ogg": "OGG", "sound.mp3": "MP3"}
RATE = 16000
LOSSY = 1e-4  # versions of lossy decoders may round otherwise
VIDEOS = {  # by which encoder
    "h264.mp4": "libx264",
    "hevc.mkv": "libx265",
    "vp8.webm": "libvpx",
    "vp9.webm": "libvpx-vp9",
    "av1.mp4": "libsvtav1",
    "mpeg4.avi": "mpeg4",
    "mpeg2.ts": "mpeg2video",
}
COLORS = 2.5  # in the mean: chroma is interpolated otherwise


def write(folder: Path) -> None:
    """Pictures in a folder for each of two classes, sounds, videos, and what other decoders make of them."""
    import soundfile
    from PIL import Image

    rows, columns = np.mgrid[:240, :320]
    waves = [128 + 100 * np.sin(rows / (9 + k)) * np.cos(columns / (13 + k)) for k in range(3)]
    pixels = np.stack(waves, -1).astype(np.uint8)
    expected: dict[str, Any] = {}
    for number, (name, (kind, settings, _)) in enumerate(PICTURES.items()):
        path = folder / "pictures" / "ab"[number % 2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path, kind, **settings)
        expected[name] = np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("RGB"))
    np.savez(folder / "expected.npz", **expected)
    tone = np.sin(np.arange(RATE) * 2 * math.pi * 440 / RATE).astype(np.float32) / 2
    (folder / "sounds").mkdir()
    with wave.open(str(folder / "sounds" / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((tone * 32767).astype("<i2").tobytes())
    for name, kind in SOUNDS.items():
        soundfile.write(folder / "sounds" / name, tone, RATE, format=kind)
    soundfile.write(folder / "sounds" / "opus.ogg", tone, RATE, format="OGG", subtype="OPUS")
    sounds = sorted((folder / "sounds").iterdir())
    read: dict[str, Any] = {path.name: soundfile.read(path, dtype="float32")[0] for path in sounds}
    np.savez(folder / "sounds.npz", **read)
    (folder / "videos").mkdir()
    np.savez(folder / "videos.npz", **{name: write_video(folder / "videos" / name) for name in VIDEOS})


def write_video(path: Path) -> Any:
    import av

    rows, columns = np.mgrid[:96, :128]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(VIDEOS[path.name], rate=25)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 128, 96, "yuv420p", 2_000_000
        for number in range(12):
            waves = [128 + 90 * np.sin((rows + 3 * number) / (20 + k)) * np.cos(columns / (24 + k)) for k in range(3)]
            picture = av.VideoFrame.from_ndarray(np.stack(waves, -1).astype(np.uint8), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def decode_pictures(folder: Path) -> None:
    from penstock import fn, pipeline_def

    names = sorted(str(path.relative_to(folder)) for path in (folder / "pictures").rglob("*.*"))

    @pipeline_def(batch_size=len(names), num_threads=2, device_id=None)
    def pictures() -> Any:
        files, _ = fn.readers.file(file_root=str(folder), files=names)
        return fn.decoders.image(files)

    (images,) = pictures().run()
    with np.load(folder / "expected.npz") as expected:
        for name, image in zip(names, images, strict=True):
            title = Path(name).name
            wanted = expected[title].astype(int)
            apart = int(np.abs(np.asarray(image).astype(int) - wanted).max())
            print(f"{title}: {wanted.shape}, at most {apart} from Pillow's")
            assert apart <= PICTURES[title][2], title


def decode_sounds(folder: Path) -> None:
    from penstock import fn, pipeline_def

    names = sorted(path.name for path in (folder / "sounds").iterdir())

    @pipeline_def(batch_size=len(names), num_threads=2, device_id=None)
    def sounds() -> Any:
        files, _ = fn.readers.file(file_root=str(folder / "sounds"), files=names)
        return fn.decoders.audio(files, downmix=True)

    samples, rates = sounds().run()
    with np.load(folder / "sounds.npz") as expected:
        for name, sound, rate in zip(names, samples, rates, strict=True):
            apart = float(np.abs(np.asarray(sound) - expected[name]).max())
            hertz = float(np.asarray(rate))
            print(f"{name}: {len(expected[name])} samples at {hertz:.0f} Hz, at most {apart:.1e} from soundfile's")
            assert apart <= LOSSY, name


def decode_videos(folder: Path) -> None:
    from penstock import fn, pipeline_def

    names = sorted(VIDEOS)

    @pipeline_def(batch_size=len(names), num_threads=2, device_id=None)
    def videos() -> Any:
        files, _ = fn.readers.file(file_root=str(folder / "videos"), files=names)
        return fn.decoders.video(files)

    (sequences,) = videos().run()
    with np.load(folder / "videos.npz") as expected:
        for name, sequence in zip(names, sequences, strict=True):
            frames, wanted = np.asarray(sequence).astype(int), expected[name].astype(int)
            assert frames.shape == wanted.shape, f"{name}: {frames.shape}, and {wanted.shape} by PyAV"
            apart = float(np.abs(frames - wanted).mean())
            print(f"{name}: {frames.shape}, {apart:.2f} from PyAV's in the mean")
            assert apart <= COLORS, name


def train(folder: Path) -> None:
    """The README's pipeline."""
    from penstock import fn, pipeline_def, types

    @pipeline_def(batch_size=8, num_threads=2, device_id=None)
    def train(root: str) -> Any:
        jpegs, labels = fn.readers.file(file_root=root, random_shuffle=True, name="Reader")
        images = fn.decoders.image_random_crop(jpegs, device="cpu", output_type=types.RGB)
        images = fn.resize(images, resize_x=224, resize_y=224)
        images = fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT,
            output_layout="CHW",
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
            mirror=fn.random.coin_flip(),
        )
        return images, labels

    images, labels = train(str(folder / "pictures")).run()
    assert np.asarray(images.as_array()).shape == (8, 3, 224, 224)
    print(f"the README's pipeline: {images.as_array().shape}, labels {labels.as_array().ravel().tolist()}")


def main() -> None:
    folder = Path(sys.argv[2])
    if sys.argv[1] == "write":
        write(folder)
        return
    if sys.argv[1] == "train":
        train(folder)
        return
    decode_pictures(folder)
    decode_sounds(folder)
    decode_videos(folder)
    train(folder)
    loaded = Path("/proc/self/maps").read_text()
    missing = [name for name in sys.argv[3:] if f"/{name}" not in loaded and not name.startswith("libz-")]
    assert not missing, f"these were not loaded: {missing}"


if __name__ == "__main__":
    main()
