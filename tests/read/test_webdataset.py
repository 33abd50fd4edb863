"""`fn.readers.webdataset`: archives of all kinds, samples that lack something, indexes, and what is refused."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, PenstockError, ReadError
from penstock.read.archive import read_archives
from tests.read.data_sets import DataSet, case, keys, read, reader, remember, rows
from tests.read.tars import cut, index, special, tar
from tests.small import made

SIZES = (4, 1, 5)


def _picture(i: int) -> bytes:
    return b"picture %d " % i * (1 + 61 * i)


def _samples(sizes: tuple[int, ...] = SIZES) -> list[tuple[bytes, bytes]]:
    return [(_picture(i), b"%d" % i) for i in range(sum(sizes))]


def _archives(sizes: tuple[int, ...] = SIZES) -> dict[str, bytes]:
    found, samples, first = {}, _samples(sizes), 0
    for k, size in enumerate(sizes):
        some = range(first, first + size)
        found[f"{k}.tar"] = tar(
            [m for i in some for m in ((f"{i:03}.jpg", samples[i][0]), (f"{i:03}.cls", samples[i][1]))]
        )
        first += size
    return found


def _named(root: str, what: str = "tar") -> list[str]:
    return [f"{root}/{k}.{what}" for k in range(len(SIZES))]


_ODD = [
    ("./0.jpg", b"zero"), ("./0.cls", b"0"), special("dir", tarfile.DIRTYPE), ("dir/1.jpg", b"one"),
    special("dir/x.jpg", tarfile.SYMTYPE, "y"), (".hidden.jpg", b"hh"), ("dir/1.cls", b"1"),
    special("dir/2.jpg", tarfile.LNKTYPE, "./0.jpg"), ("dir/2.cls", b"2"), ("d/.hidden.jpg", b"h"),
    ("d" * 60 + "/" + "e" * 60 + "/f.jpg", b"long"), ("d" * 60 + "/" + "e" * 60 + "/f.cls", b"L"),
    ("é.jpg", "é".encode()), ("é.cls", b"e"), ("a.b/c.jpg", b"dot"), ("a.b/c.cls", b"q"), ("/abs.jpg", b"abs"),
    ("sp ace.jpg", b"sp"), ("sp ace.left.jpg", b"left"), ("4.JPG", b"upper"), ("4.cls", b""), ("5.cls", b""),
    ("noext", b"n"), ("5.jpg", b"again"), ("5.jpg", b"twice"),
]  # fmt: skip
_ODD_SAMPLES = [
    (b"zero", b"0"), (b"one", b"1"), (b"", b"2"), (b"", b""), (b"long", b"L"), ("é".encode(), b"e"), (b"dot", b"q"),
    (b"abs", b""), (b"sp", b""), (b"", b""), (b"", b""), (b"", b""), (b"again", b""),
]  # fmt: skip
_VERY_LONG = "d" * 90 + "/" + "e" * 200 + "/" + "f" * 60


def _odd(form: int) -> list[Any]:
    return (
        [*_ODD, (_VERY_LONG + ".jpg", b"very"), (_VERY_LONG + ".cls", b"V")] if form != tarfile.USTAR_FORMAT else _ODD
    )


def _one(root: str, **arguments: Any) -> dict[str, Any]:
    return {"paths": f"{root}/a.tar", "ext": ["jpg", "cls"], **arguments}


def _formats() -> list[DataSet]:
    found = []
    for form, title in ((tarfile.USTAR_FORMAT, "ustar"), (tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax")):
        more = [] if form == tarfile.USTAR_FORMAT else [(b"very", b"V")]
        differs = "DALI knows no names of pax headers" if form == tarfile.PAX_FORMAT else None
        files = {"a.tar": tar(_odd(form), form)}
        found.append(case("readers.webdataset", files, _ODD_SAMPLES + more, _one, differs=differs, title=title))
    return found


_FLOATS = [np.arange(i, dtype=np.float32) for i in range(3)]
CASES = [
    case(
        "readers.webdataset",
        _archives(),
        _samples(),
        lambda root: {"paths": _named(root), "ext": ["jpg", "cls"]},
        broken=("2.tar", cut(_archives()["2.tar"], "009.jpg"), 9),
        title="three archives",
    ),
    *(
        case(
            "readers.webdataset",
            {**_archives(), **{f"{k}.idx": index(_archives()[f"{k}.tar"], version) for k in range(len(SIZES))}},
            _samples(),
            lambda root: {"paths": _named(root), "index_paths": _named(root, "idx"), "ext": ["jpg", "cls"]},
            broken=("1.tar", b"", 4),
            title=f"indexes {version}",
        )
        for version in ("v1.1", "v1.2")
    ),
    *_formats(),
    case(
        "readers.webdataset",
        {"a.tar": tar(_ODD)},
        [_ODD_SAMPLES[i] for i in (0, 1, 4, 5, 6)],
        lambda root: _one(root, missing_component_behavior="skip"),
        title="skip",
    ),
    case(
        "readers.webdataset",
        {"a.tar": tar(_ODD)},
        [
            (b"0", b"zero"),
            (b"1", b"one"),
            (b"2", b""),
            (b"", b""),
            (b"L", b"long"),
            (b"e", "é".encode()),
            (b"q", b"dot"),
            (b"", b"abs"),
            (b"left", b"sp"),
            (b"", b"upper"),
            (b"", b""),
            (b"", b""),
            (b"", b"again"),
        ],
        lambda root: _one(root, ext=["CLS;left.JPG", "jpg;;png;"], case_sensitive_extensions=False),
        title="several extensions",
    ),
    case(
        "readers.webdataset",
        {"a.tar": tar([(f"{i}.bin", a.tobytes()) for i, a in enumerate(_FLOATS)] + [("3.txt", b"abc")])},
        [(a, a.view(np.uint8), a.view(np.int16)) for a in [*_FLOATS, np.zeros(0, np.float32)]],
        lambda root: _one(root, ext=["bin"] * 3, dtypes=[types.FLOAT, types.UINT8, types.INT16]),
        title="types",
    ),
    case(
        "readers.webdataset",
        {"a.tar": tar([("0.jpg", b"x"), ("1.jpg", b"y"), ("2.jpg", b"z")])},
        [(b"x",), (b"y",), (b"z",)],
        lambda root: _one(root, ext="jpg"),
        title="one output",
    ),
]


def reads(folder: Path, batch_size: int = 1, **arguments: Any) -> Pipeline:
    """A pipeline over the archive a.tar."""
    return made(lambda: reader("readers.webdataset", _one(str(folder), **arguments)), batch_size=batch_size)


def raises(kind: type[PenstockError], folder: Path, archive: bytes, **arguments: Any) -> str:
    (folder / "a.tar").write_bytes(archive)
    with pytest.raises(kind) as caught:
        reads(folder, **arguments).run()
    return str(caught.value)


def texts(pipe: Pipeline, count: int) -> list[tuple[bytes, ...]]:
    return [tuple(a.tobytes() for a in sample) for sample in read(pipe, count)]


@pytest.mark.parametrize("behavior", ["error", "ERROR"])
def test_a_missing_component_may_be_an_error(behavior: str, tmp_path: Path) -> None:
    archive = tar([("0.jpg", b"0"), ("0.cls", b"0"), ("1.jpg", b"1")])
    text = raises(ArgumentError, tmp_path, archive, missing_component_behavior=behavior)
    assert f"sample 1 of {tmp_path}/a.tar, which begins with 1.jpg, has no component 'cls'" in text
    assert "operator made at" in text
    assert texts(reads(tmp_path, ext="jpg", missing_component_behavior=behavior), 2) == [(b"0",), (b"1",)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paths": []}, "there is no archive"),
        ({"ext": []}, "there is no output"),
        ({"index_paths": ["a", "b"]}, "there are 1 archives, and each needs an index"),
        ({"missing_component_behavior": "panic"}, "'panic': expected 'empty', 'skip' or 'error'"),
        ({"dtypes": types.FLOAT}, "there are 2 outputs, and each needs a type"),
        ({"dtypes": [types.BOOL, types.UINT8]}, "expected types of integers and floating-point numbers"),
        (
            {"dtypes": [types.INT32, types.UINT8]},
            "the component 0.jpg has 3 bytes, .* no whole number of elements of 4",
        ),
        ({"ext": ["png", "txt"], "missing_component_behavior": "skip"}, "no sample has a component for each of ext="),
        ({"shuffle_after_epoch": True, "stick_to_shard": True}, "leaves no shard to stick to"),
        ({"num_shards": 3}, "the data set has only 2 samples"),
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tar([("0.jpg", b"abc"), ("0.cls", b"0"), ("1.jpg", b"abcd")]))
    with pytest.raises(ArgumentError, match=f"(?s)readers.webdataset: .*{message}.*operator made at"):
        reads(tmp_path, **arguments).build()


WHOLE = tar([("0.jpg", b"zero"), ("0.cls", b"0"), ("1.jpg", b"o" * 3000), ("1.cls", b"1")])


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"hello world" * 100, "there is no header at byte 0"),
        (WHOLE[:2100], "there is no header at byte 2048"),
        (WHOLE[:2051] + b"!" + WHOLE[2052:], "there is no header at byte 2048"),
        (b"\x1f\x8b" + WHOLE, "Compressed archives are not read"),
        (tar([("d" * 300, b"")], tarfile.GNU_FORMAT)[:600], "there is no header at byte 0"),
    ],
    ids=["text", "cut in a header", "wrong sum", "compressed", "cut in a name"],
)
def test_what_is_no_archive(archive: bytes, message: str, tmp_path: Path) -> None:
    assert message in raises(ReadError, tmp_path, archive)


@pytest.mark.parametrize(
    "archive",
    [WHOLE[:6656], WHOLE[:2048] + bytes(512) + WHOLE[2048:], WHOLE + WHOLE],
    ids=["no end", "a lone zero block", "something behind the end"],
)
def test_ends_of_archives(archive: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(archive)
    pipe = reads(tmp_path)
    assert pipe.epoch_size("Reader") == 2
    assert texts(pipe, 2) == [(b"zero", b"0"), (b"o" * 3000, b"1")]


def test_headers_of_old_and_of_large_files(tmp_path: Path) -> None:
    """Unix V7's have no magic and no type; GNU writes sizes that octal digits do not hold as bytes."""

    def sealed(header: bytearray) -> bytes:
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        return bytes(header)

    old, large = bytearray(WHOLE[:512]), bytearray(WHOLE[1024:1536])
    old[156:] = bytes(512 - 156)
    large[124:136] = b"\x80" + (1).to_bytes(11, "big")
    (tmp_path / "a.tar").write_bytes(sealed(old) + WHOLE[512:1024] + sealed(large) + WHOLE[1536:])
    assert texts(reads(tmp_path), 2) == [(b"zero", b"0"), (b"o" * 3000, b"1")]


def test_an_archive_without_files_has_no_samples(tmp_path: Path) -> None:
    assert "no sample has a component" in raises(ArgumentError, tmp_path, tar([]))
    (tmp_path / "b.tar").write_bytes(WHOLE)
    assert reads(tmp_path, paths=[f"{tmp_path}/{k}.tar" for k in "aba"]).epoch_size("Reader") == 2


GOOD = "v1.2 2\njpg 512 4 0.jpg cls 1536 1 0.cls\njpg 2560 3000 1.jpg cls 6144 1 1.cls\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected v1.1 or v1.2"),
        (GOOD.replace("v1.2", "v1.0"), "line 1: expected v1.1 or v1.2"),
        (GOOD.replace("v1.2 2", "v1.2 0"), "line 1: expected the number of samples"),
        (GOOD.replace("v1.2 2", "v1.2 3"), "line 4: expected the files of a sample"),
        (GOOD.replace("0.cls\n", "0.cls\n\n"), "line 3: expected the files of a sample"),
        (GOOD.replace("jpg 512", "jpg x"), "line 2: expected EXTENSION OFFSET BYTES NAME"),
        (GOOD.replace("3000", "-3000"), "line 3: expected EXTENSION OFFSET BYTES NAME"),
        (GOOD.replace(" 1 1.cls", ""), "line 3: expected EXTENSION OFFSET BYTES NAME"),
        (GOOD.replace("512", "513"), "line 2: the offset 513 is no multiple of 512"),
    ],
)
def test_indexes_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(text)
    where = f"readers.webdataset: the index {tmp_path}/a.idx: {message}"
    assert where in raises(ReadError, tmp_path, WHOLE, index_paths=f"{tmp_path}/a.idx")


@pytest.mark.parametrize(
    "text",
    [
        GOOD, GOOD.replace("\n", "\r\n"), GOOD.rstrip(), GOOD + "more", GOOD.replace(" cls", "\tcls"),
        re.sub(" [01].(jpg|cls)", "", GOOD).replace("v1.2", "v1.1"),
    ],
)  # fmt: skip
def test_indexes_of_all_kinds(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(WHOLE)
    (tmp_path / "a.idx").write_text(text, newline="")
    pipe = reads(tmp_path, index_paths=[f"{tmp_path}/a.idx"])
    first = pipe.run()
    name = "0.jpg" if "v1.2" in text else ""
    assert first[0][0].source_info() == f"{tmp_path}/a.tar:512:{name}"
    assert keys(rows(first)) + keys(read(pipe, 1)) == keys(
        [(np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8)) for a, b in ((b"zero", b"0"), (b"o" * 3000, b"1"))]
    )


def test_an_index_that_lies(tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(GOOD.replace("3000", "300000"))
    (tmp_path / "a.tar").write_bytes(WHOLE)
    pipe = reads(tmp_path, index_paths=f"{tmp_path}/a.idx")
    pipe.run()
    with pytest.raises(ReadError, match="has 10240 bytes, but its index says that a sample has 300000 bytes from") as e:
        pipe.run()
    assert e.value.file == f"{tmp_path}/a.tar:2560:1.jpg"


def test_several_components_for_one_output(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tar([("0.png", b"first"), ("0.jpg", b"second")]))
    with pytest.warns(UserWarning, match="several components for one output") as caught:
        pipe = reads(tmp_path, ext="jpg;png")
    assert caught[0].filename.startswith(str(Path(__file__).parent))
    assert texts(pipe, 1) == [(b"first",)]


def test_a_component_that_is_missing_comes_from_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(tar([("0.jpg", b"0"), ("0.cls", b"")]))
    outputs = reads(tmp_path, ext=["jpg", "png", "cls"]).run()
    assert [o[0].source_info() for o in outputs] == [f"{tmp_path}/a.tar:512:0.jpg", "", f"{tmp_path}/a.tar:1536:0.cls"]
    assert [o.at(0).tolist() for o in outputs] == [[48], [], []]


def test_pictures_are_named_by_archive_and_member(tmp_path: Path, photographs: Path) -> None:
    good = min(photographs.glob("*/*.jpg")).read_bytes()
    (tmp_path / "a.tar").write_bytes(tar([("0.jpg", good), ("1.jpg", b"no picture")]))
    pipe = made(lambda: fn.decoders.image(reader("readers.webdataset", _one(str(tmp_path)))[0]), batch_size=1)
    (pictures,) = pipe.run()
    assert pictures[0].source_info() == f"{tmp_path}/a.tar:512:0.jpg"
    with pytest.raises(PenstockError) as caught:
        pipe.run()
    assert f"file: {tmp_path}/a.tar:" in str(caught.value)
    assert ":1.jpg" in str(caught.value)


def test_pictures_are_decoded_on_a_gpu(tmp_path: Path, photographs: Path, software_gpu: dict[str, str]) -> None:
    pictures = [path.read_bytes() for path in sorted(photographs.glob("*/*.jpg"))[:4]]
    (tmp_path / "a.tar").write_bytes(tar([(f"{i}.jpg", data) for i, data in enumerate(pictures)]))

    def define(device: str) -> Any:
        return fn.decoders.image(reader("readers.webdataset", _one(str(tmp_path), ext="jpg"))[0], device=device)

    (wanted,) = made(lambda: define("cpu"), batch_size=4).run()
    (found,) = made(lambda: define("mixed"), batch_size=4, device_id=0).run()
    assert found.as_cpu().source_info() == wanted.source_info()
    assert found.shape() == wanted.shape()


def test_archives_stay_open_while_they_are_read(tmp_path: Path) -> None:
    """Not once per sample; as many at a time as are read from, and no more than a few that are not."""
    names = []
    for k in range(100):
        names.append(str(tmp_path / f"{k}.tar"))
        Path(names[-1]).write_bytes(tar([(f"{i}.jpg", b"%d" % i) for i in range(3)]))

    def opened() -> int:
        links = (os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd"))
        return sum(link.startswith(str(tmp_path)) for link in links)

    pipe = reads(tmp_path, paths=names, ext="jpg", random_shuffle=True)
    read(pipe, 600)
    assert 1 < opened() <= 64
    del pipe
    assert opened() == 0
    pipe = reads(tmp_path, paths=names[:1], ext="jpg")
    read(pipe, 30)
    assert 1 <= opened() <= 2  # that many threads read


@pytest.mark.parametrize("num_shards", [1, 2])
def test_archives_are_shuffled_as_a_whole(num_shards: int, tmp_path: Path) -> None:
    sizes, first, files = (3, 5, 2, 4), 0, {}
    for k, size in enumerate(sizes):
        files[str(tmp_path / f"{k}.tar")] = [b"%d" % i for i in range(first, first + size)]
        Path(tmp_path / f"{k}.tar").write_bytes(tar([(f"{i}.txt", b"%d" % i) for i in range(first, first + size)]))
        first += size
    groups = [tuple((n,) for n in names) for names in files.values()]

    def epochs(seed: int | None) -> list[list[tuple[bytes, ...]]]:
        arguments = {"shuffle_after_epoch": True, "shuffle_after_epoch_seed": seed, "num_shards": num_shards}
        some = {"paths": list(files), "ext": "txt", **arguments}
        pipes = [reads(tmp_path, shard_id=s, **some) for s in range(num_shards)]
        return [[t for pipe in pipes for t in texts(pipe, 14 // num_shards)] for _ in range(5)]

    found = epochs(None)
    for epoch in found:
        assert sorted(epoch) == sorted(t for group in groups for t in group)
        starts = sorted(epoch.index(group[0]) for group in groups)
        assert {tuple(epoch[a:b]) for a, b in zip(starts, [*starts[1:], 14], strict=True)} == set(groups)
    assert len({tuple(epoch) for epoch in found}) > 1
    assert epochs(None) == found != epochs(3)


def test_archives_and_samples_may_both_be_shuffled(tmp_path: Path) -> None:
    names = []
    for k in range(4):
        names.append(str(tmp_path / f"{k}.tar"))
        Path(names[-1]).write_bytes(tar([(f"{i}.txt", b"%d" % (10 * k + i)) for i in range(10)]))
    more = {"shuffle_after_epoch": True, "random_shuffle": True, "num_shards": 2}
    pipes = [reads(tmp_path, paths=names, ext="txt", shard_id=s, **more) for s in range(2)]
    shards = [[texts(pipe, 20) for pipe in pipes] for _ in range(6)]
    for first, second in shards:
        assert sorted(first + second) == sorted((b"%d" % i,) for i in range(40))
        assert len({int(t) // 10 for (t,) in first}) == 2  # whole archives
        assert first != sorted(first, key=lambda t: int(t[0]))
    assert len({tuple(sorted(first)) for first, _ in shards}) > 1


def test_broken_archives_and_indexes_do_no_harm(random: np.random.Generator) -> None:
    """Whatever bytes there are: files within the archive, or an error."""
    name, tried, refused = "memory://fuzz/a", 0, 0
    archives = [tar(_odd(form), form) for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)]
    for data, is_index in [*((a, False) for a in archives), (index(WHOLE), True)]:
        for _ in range(400):
            broken = bytearray(data)
            for _ in range(random.integers(1, 4)):
                broken[random.integers(len(broken))] = random.choice([*range(256), *b"0123456789 \n"])
            remember(name, bytes(broken[: random.integers(len(broken))] if random.random() < 0.2 else broken))
            tried += 1
            try:
                (members,) = read_archives([name], [name] if is_index else None)
            except ReadError:
                refused += 1
                continue
            assert (members.offsets >= 0).all()
            assert (members.lengths >= 0).all()
            assert len(members.names.split(b"\0")) == len(members.offsets) + 1
            assert (np.diff(members.sample) >= 0).all()
            assert members.sample.max(initial=-1) < members.samples
    remember(name, None)
    assert 0 < refused < tried
