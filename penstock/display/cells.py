"""One sample of one output as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.display import kinds, pictures, png, sounds

Array = npt.NDArray[Any]

_MOST_NUMBERS = 12  # of an array of plain values
_MOST_FRAMES = 8
_MOST_BYTES = 1 << 20  # of a file that is shown as it is, and of a sound
_MOST_BOXES = 100
_TEXT = 120  # characters


@dataclass(frozen=True)
class Box:
    """What is drawn over a picture: corners in pixels, or in parts of its edges."""

    corners: tuple[float, float, float, float]  # left, top, right, bottom
    label: str = ""


@dataclass(frozen=True)
class Look:
    """How samples are shown.

    Attributes:
        pixels: the longest edge of a picture.
        sample_rate: of sounds, in Hz; None: they are drawn, and cannot be listened to.
        boxes: over the picture.
    """

    pixels: int = 256
    sample_rate: float | None = None
    boxes: list[Box] = field(default_factory=list)


def cell(array: Array, layout: str, kind: str, look: Look) -> str:
    """The sample, with its shape below where it is no plain value."""
    if array.size == 0:
        return _caption(f"{array.dtype} {_shape(array)}: nothing")
    if kind == "values":
        return f"<code>{html.escape(text_of(array))}</code>"
    if kind == "file" and (mime := kinds.file_type(array)):
        return _file(array, mime, look)
    if kind == "audio":
        return _sound(array, look)
    if kind == "frames" and array.ndim == 4:
        return _frames(array, layout, look)
    return _picture(array, layout, kind, look)


def text_of(array: Array) -> str:
    """Plain values in a line: a number, a text, or the first of many numbers."""
    if array.ndim == 1 and array.dtype == np.uint8 and array.size:
        text = array[: _TEXT + 1].tobytes().decode("utf-8", errors="replace")
        if text.isprintable() and "\ufffd" not in text:
            return repr(text[:_TEXT] + "..." * (len(array) > _TEXT))
    if array.size <= _MOST_NUMBERS:
        text = np.array2string(array, separator=", ", precision=4, max_line_width=10**6)
        return " ".join(text.split())
    flat = array.ravel()
    edge = ", ".join(np.array2string(value, precision=4) for value in flat[:4])
    return f"{array.dtype} {_shape(array)}: {edge}, ..."


def _shape(array: Array) -> str:
    return "×".join(map(str, array.shape)) or "scalar"


def _caption(*notes: str) -> str:
    return f"<small>{html.escape(', '.join(note for note in notes if note))}</small>"


def _image(pixels: npt.NDArray[np.uint8], text: str, boxes: str = "") -> str:
    source = png.address("image/png", png.png(pixels))
    height, width = pixels.shape[:2]
    blocky = " ps-blocky" if max(height, width) < 64 else ""
    image = (
        f'<img class="ps-pixels{blocky}" src="{source}" width="{width}" height="{height}" alt="{html.escape(text)}">'
    )
    return f'<span class="ps-over">{image}{boxes}</span>'


def _picture(array: Array, layout: str, kind: str, look: Look) -> str:
    array = kinds.channels_last(array, layout)
    if array.ndim not in (2, 3) or (kind in ("mask", "spectrogram") and array.ndim == 3 and array.shape[2] != 1):
        return _caption(f"{array.dtype} {_shape(array)}: no {kind}") + f"<code>{html.escape(text_of(array))}</code>"
    if kind == "mask":
        made = pictures.mask(array, look.pixels)
    elif kind == "spectrogram":
        made = pictures.heat(array.reshape(array.shape[:2]), look.pixels)
    else:
        made = pictures.picture(array, look.pixels)
    words = f"{_shape(array)} {array.dtype}"
    return _image(made.pixels, f"{kind} {words}", _boxes(look.boxes, array.shape)) + _caption(words, made.note)


def _boxes(boxes: list[Box], shape: tuple[int, ...]) -> str:
    if not boxes:
        return ""
    relative = all(abs(corner) <= 1.001 for box in boxes for corner in box.corners)
    height, width = (1.0, 1.0) if relative else map(float, shape[:2])
    drawn = []
    for box in boxes[:_MOST_BOXES]:
        left, top, right, bottom = (
            100 * corner / extent for corner, extent in zip(box.corners, (width, height) * 2, strict=True)
        )
        label = f"<b>{html.escape(box.label)}</b>" if box.label else ""
        drawn.append(
            f'<span class="ps-box" style="left:{left:.2f}%;top:{top:.2f}%;width:{right - left:.2f}%;'
            f'height:{bottom - top:.2f}%">{label}</span>'
        )
    return "".join(drawn)


def _frames(array: Array, layout: str, look: Look) -> str:
    chosen = np.unique(np.linspace(0, len(array) - 1, _MOST_FRAMES).astype(int))
    frames = (kinds.channels_last(array[i], layout[1:]) for i in chosen)
    shown = [pictures.picture(frame, max(look.pixels // 2, 32)).pixels for frame in frames]
    images = "".join(_image(frame, f"frame {i}") for i, frame in zip(chosen.tolist(), shown, strict=True))
    return f'<span class="ps-frames">{images}</span>' + _caption(f"{_shape(array)} {array.dtype}")


def _sound(array: Array, look: Look) -> str:
    player = ""
    seconds = f"{len(array) / look.sample_rate:.2f} s" if look.sample_rate else ""
    if look.sample_rate and array.size * 2 <= _MOST_BYTES:
        file = png.address("audio/wav", sounds.wav(array, round(look.sample_rate)))
        player = f'<audio controls preload="none" src="{file}"></audio>'
    return sounds.wave(array) + player + _caption(f"{_shape(array)} {array.dtype}", seconds)


def _file(array: Array, mime: str, look: Look) -> str:
    words = _caption(f"{mime.partition('/')[2].upper()} file, {len(array):,} bytes")
    if len(array) > _MOST_BYTES:
        return words
    source = png.address(mime, array.tobytes())
    image = f'<img class="ps-pixels" src="{source}" style="max-height:{look.pixels}px" alt="a picture\'s file">'
    return f'<span class="ps-over">{image}</span>' + words
