"""Random calls of readers on small data sets (stored.py), and of decoders of sounds and arrays on random files.

What depends on the version of a codec (Vorbis), and orders that are shuffled, are tried elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.random.arguments import Given, odd
from tests.random.draw import TYPES, Draw


def _folder(d: Draw, kind: str) -> str:
    return f"stored({kind!r}, {d.whole(0, 19)})"


def _maybe(d: Draw, found: Given, **others: str) -> Given:
    return found | {name: text for name, text in others.items() if d.chance(0.4)}


def _file(d: Draw) -> Given:
    root = _folder(d, "folders")
    if d.chance(0.3):
        return {"file_root": root, "file_list": f"{root} + '/list.txt'"}
    found = {"file_root": root}
    if d.chance(0.4):
        found["file_filters"] = d.choose(["['*.jpg']", "['*.JPEG', '*.txt']", "['*']", "'*.jpg'", "[]", "['*.none']"])
    if d.chance(0.3):
        found["dir_filters"] = d.choose(["['class ?']", "['class 0']", "['*']", "['none']"])
    return _maybe(d, found, case_sensitive_filter=d.choose(["True", "False"]))


def _tfrecord(d: Draw) -> Given:
    parts = d.whole(1, 2)
    root = _folder(d, "tfrecord")[:-1]
    files = [f"stored_files{root[6:]}, {parts}, {suffix!r})" for suffix in (".tfrecord", ".idx")]
    features = {
        "bytes": "FixedLenFeature([], tfrecord.string, '')",
        "one": f"FixedLenFeature({d.choose(['[1]', '[]'])}, tfrecord.int64, -1)",
        "two": "FixedLenFeature([2], tfrecord.float32, 0.0)",
        "many": "VarLenFeature(tfrecord.int64, 0)",
        "rows": f"VarLenFeature({d.choose(['', '[2], '])}tfrecord.float32, 0.0)",
    }
    chosen = d.some([*features], d.whole(1, 5))
    text = ", ".join(f"{name!r}: tfrecord.{features[name]}" for name in chosen)
    found = {"path": files[0], "index_path": files[1], "features": f"{{{text}}}"}
    return _maybe(d, found, use_o_direct="False")


def _mxnet(d: Draw) -> Given:
    root = _folder(d, "recordio")
    return {"path": f"[{root} + '/0.rec']", "index_path": f"[{root} + '/0.idx']"}


def _caffe(d: Draw) -> Given:
    return _maybe(d, {"path": _folder(d, "caffe")}, label_available=d.choose(["True", "False"]), image_available="True")


def _caffe2(d: Draw) -> Given:
    found = {"path": _folder(d, "caffe2"), "label_type": d.choose(["0", "0", "0", "4"])}
    return _maybe(d, found, additional_inputs="1" if found["label_type"] == "0" else "0")


def _webdataset(d: Draw) -> Given:
    root, parts = _folder(d, "webdataset")[6:-1], d.whole(1, 2)
    files = [f"stored_files{root}, {parts}, {suffix!r})" for suffix in (".tar", ".idx")]
    ext = d.some(["jpg", "cls", "json", "seg.npy", "none", "jpg;cls", "JPG"], d.whole(1, 3))
    found = {"paths": files[0], "ext": repr(ext)}
    if d.chance(0.5):
        found["index_paths"] = files[1]
    if d.chance(0.4):
        found["dtypes"] = f"[{', '.join(d.choose(['types.UINT8', 'types.INT32', 'types.FLOAT16']) for _ in ext)}]"
    behavior = d.choose(["'empty'", "'skip'", "'error'", "''", "'raise'"])
    sensitive = d.choose(["True", "False"])
    return _maybe(d, found, missing_component_behavior=behavior, case_sensitive_extensions=sensitive)


def _coco(d: Draw) -> Given:
    root = _folder(d, "coco")
    found = {"file_root": root, "annotations_file": f"{root} + '/annotations.json'"}
    if d.chance(0.2):
        found["images"] = repr([f"{i}.jpg" for i in d.some(range(2), d.whole(1, 2))])
    flags = ("ltrb", "ratio", "skip_empty", "image_ids", "include_iscrowd", "avoid_class_remapping")
    others = {flag: d.choose(["True", "False"]) for flag in flags}
    found = _maybe(d, found, size_threshold=f"{d.number(0, 9)}", **others)
    if d.chance(0.4):
        found[d.choose(["polygon_masks", "pixelwise_masks"])] = "True"
    if "pixelwise_masks" in found:  # where masks of one class touch, DALI loses a pixel of run lengths
        found["include_iscrowd"] = "False"
    return found


def _numpy(d: Draw) -> Given:
    found = {"file_root": _folder(d, "numpy")}
    if d.chance(0.3):
        found["file_filter"] = d.choose(["'*.npy'", "'[0-2].npy'", "'*.txt'"])
    if d.chance(0.5):
        axes = d.some(range(3), d.whole(1, 2)) if d.chance(0.3) else [0]
        found["roi_axes"] = repr(axes)
        found["roi_start"] = repr([d.whole(0, 4) for _ in axes])
        if d.chance(0.7):
            found[d.choose(["roi_end", "roi_shape"])] = repr([d.whole(1, 9) for _ in axes])
        if d.chance(0.5):
            found |= {"out_of_bounds_policy": d.choose(["'pad'", "'error'", "'trim_to_shape'"])}
            found |= {"fill_value": f"{d.whole(-9, 99)}"} if d.chance(0.5) else {}
    return _maybe(d, found, cache_header_information=d.choose(["True", "False"]))


def _sequence(d: Draw) -> Given:
    found = {"file_root": _folder(d, "sequence"), "sequence_length": f"{d.whole(1, 4)}"}
    return _maybe(d, found, step=f"{d.whole(1, 3)}", stride=f"{d.whole(1, 2)}",
                  image_type=d.choose(["types.RGB", "types.GRAY", "types.BGR"]))  # fmt: skip


def _nemo(d: Draw) -> Given:
    found = {"manifest_filepaths": f"[{_folder(d, 'sounds')} + '/manifest.json']"}
    found["dtype"] = d.choose(["types.FLOAT", "types.INT16"])
    if d.chance(0.3):
        found |= {"sample_rate": d.choose(["8000.0", "11025.0"]), "quality": f"{d.whole(10, 90)}.0"}
    flags = ("downmix", "read_sample_rate", "read_text", "read_idxs")
    limits = {"min_duration": f"{d.number(0, 0.1)}", "max_duration": f"{d.number(0.05, 0.4)}"}
    return _maybe(d, found, **limits, **{flag: d.choose(["True", "False"]) for flag in flags})


READERS: dict[str, Callable[[Draw], Given]] = {
    "readers.file": _file, "readers.tfrecord": _tfrecord, "readers.mxnet": _mxnet, "readers.caffe": _caffe,
    "readers.caffe2": _caffe2, "readers.webdataset": _webdataset, "readers.coco": _coco, "readers.numpy": _numpy,
    "readers.sequence": _sequence, "readers.nemo_asr": _nemo,
}  # fmt: skip


def reading(d: Draw) -> None:
    """One of the readers, or a decoder of sounds or arrays."""
    if d.chance(0.25):
        return d.choose([_sound, _array, _contents])(d)
    d.batch = d.whole(1, 7)
    name = d.choose([*READERS])
    found = READERS[name](d)
    if d.chance(0.4):
        shards = d.whole(1, 3)
        found |= {"num_shards": f"{shards}", "shard_id": f"{d.whole(0, shards - 1)}"}
    others = {"stick_to_shard": "True", "pad_last_batch": "True", "lazy_init": "True", "prefetch_queue_depth": "2",
              "read_ahead": "True", "dont_use_mmap": "True", "seed": "5", "initial_fill": "9"}  # fmt: skip
    found |= {key: text for key, text in others.items() if d.chance(0.12)}
    if d.chance(0.06):
        found[d.choose([*found])] = odd(d)
    d.call(f"fn.{name}", (), found)
    return None


def _broken(d: Draw, text: str) -> str:
    return f"harmed({text}, {d.number(0, 1)}, {d.whole(-1, 7)})" if d.chance(0.1) else text


def _sound(d: Draw) -> None:
    kinds = [("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "FLOAT"), ("WAV", "PCM_U8"), ("FLAC", "PCM_16"),
             ("FLAC", "PCM_24")]  # fmt: skip
    texts = []
    for _ in range(d.batch):
        form, subtype = d.choose(kinds)
        text = f"sound({form!r}, {subtype!r}, {d.choose([100, 999, 3000])}, {d.whole(1, 2)}, 16000)"
        texts.append(_broken(d, text) if form == "FLAC" else text)
    found = _maybe(d, {}, dtype=d.choose(["types.FLOAT", "types.INT16", "types.INT32", *TYPES]), downmix="True")
    if d.chance(0.3):
        found |= {"sample_rate": f"{d.choose([8000.0, 22050.0])}"} | _maybe(d, {}, quality=f"{d.whole(0, 100)}.0")
    d.call("fn.decoders.audio", (d.source(texts).name,), found)


def _array(d: Draw) -> None:
    dtype, axes = d.choose(["uint8", "int16", "float32", "float64", "int64", "bool"]), d.whole(0, 3)
    texts = [
        _broken(d, f"npy({d.array(dtype, [d.whole(0, 6) for _ in range(axes)])}, {d.chance(0.3)})")
        for _ in range(d.batch)
    ]
    d.call("fn.decoders.numpy", (d.source(texts).name,), {"dtype": d.choose(TYPES)} if d.chance(0.1) else {})


def _contents(d: Draw) -> None:
    kind = d.choose(["folders", "numpy", "coco", "recordio"])
    texts = [f"name_of({kind!r}, {d.whole(0, 19)}, {d.whole(0, 9)})" for _ in range(d.batch)]
    if d.chance(0.1):
        texts[0] = "np.frombuffer(b'/missing', np.uint8)"
    d.call("fn.io.file.read", (d.source(texts).name,))
