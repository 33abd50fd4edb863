"""The lists of files against DALI's file reader, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import ArgumentError, ArgumentTypeError, ReadError
from penstock.read.listing import list_files

FILES = (
    "a/1.jpg", "a/10.jpg", "a/2.JPG", "a/.hidden.jpg", "a/A.jpg", "a/b.jpg", "a/note.txt", "a/[x].jpg",
    "B/b.png", "B/deeper/c.png", "b/z.jpeg", "10/a.jpg", "2/a.jpg", "_u/a.jpg", ".dot/h.jpg", "no pictures/n.txt",
    "é/ü.jpg", "top.jpg", "my file.jpg", "two  spaces.jpg", "a/back\\slash.jpg", "tab\tinside.jpg", "#no comment.jpg",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    (root / "a/folder.jpg").mkdir()
    (root / "a/link.jpg").symlink_to("1.jpg")
    (root / "linked folder").symlink_to("a")
    os.mkfifo(root / "a/pipe.jpg")
    return root


@pytest.fixture(scope="module")
def dali_lists():
    """A function that gives the names and labels that DALI reads, None if it refuses."""
    fn = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import pipeline_def

    def lists(arguments):
        @pipeline_def(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
        def pipeline():
            return tuple(fn.readers.file(name="R", **arguments))

        pipe = pipeline()
        try:
            pipe.build()
        except RuntimeError:
            return None
        runs = [pipe.run() for _ in range(pipe.epoch_size("R"))]
        return [file[0].source_info() for file, _ in runs], [int(label.at(0)[0]) for _, label in runs]

    return lists


def listed(arguments):
    try:
        found = list_files(**arguments)
    except ArgumentError:
        return None
    assert found.labels.dtype == np.int32
    return found.names, found.labels.tolist()


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"file_filters": "*.JPG"},
        {"file_filters": ["*.JPG"], "case_sensitive_filter": True},
        {"file_filters": ["*.txt", "*"]},
        {"file_filters": ["1*", "*.png"]},
        {"file_filters": ["[ab]*"]},
        {"file_filters": ["[ab]*"], "case_sensitive_filter": True},
        {"file_filters": ["[!a].jpg"]},
        {"file_filters": ["[^a].jpg"]},
        {"file_filters": ["[[:digit:]]*"]},
        {"file_filters": ["?.jpg", "ü*"]},
        {"file_filters": ["\\[x*", "back\\\\*"]},
        {"file_filters": ["*[x]*"]},
        {"file_filters": [".*"]},
        {"file_filters": ["a/*"]},
        {"file_filters": ["*.zzz"]},
        {"file_filters": [""]},
        {"file_filters": []},
        {"dir_filters": ["a", "B"]},
        {"dir_filters": ["a", "B"], "case_sensitive_filter": True},
        {"dir_filters": "*t*", "file_filters": ["*"]},
        {"dir_filters": ["1?", "2"]},
        {"dir_filters": ["none of these"]},
        {"dir_filters": []},
    ],
    ids=str,
)
def test_folders_as_dali_lists_them(tree, dali_lists, filters):
    arguments = dict(file_root=str(tree), **filters)
    assert listed(arguments) == dali_lists(arguments)


@pytest.mark.parametrize(
    "text",
    [
        "top.jpg 3\na/1.jpg 4\n",
        "top.jpg 3\na/1.jpg 4",
        "top.jpg 3\r\na/1.jpg 4\r\n",
        "\n\ntop.jpg 3\n   \n\na/1.jpg 4\n\n",
        "my file.jpg 3\ntwo  spaces.jpg   4   \ntab\tinside.jpg\t5\n#no comment.jpg 6",
        "é/ü.jpg 1",
        "top.jpg 007",
        "./top.jpg 1\na//1.jpg 1\n",
        "top.jpg\n",
        "top.jpg \n",
        "top.jpg x\n",
        "top.jpg 3x\n",
        "top.jpg -3\n",
        "top.jpg +3\n",
        "top.jpg 3.5\n",
        "top.jpg 0x10\n",
        "# a comment\ntop.jpg 3\n",
        "3\n",
        " 3\n",
        "",
        " \n",
    ],
)
def test_list_files_as_dali_reads_them(tree, dali_lists, text):
    path = tree / "list.txt"
    path.write_text(text, newline="")
    arguments = {"file_list": str(path)}
    expected = dali_lists(arguments)
    assert listed(arguments) == expected
    if expected:
        assert all(os.path.isfile(list_files(**arguments).path(i)) for i in range(len(expected[0])))


@pytest.mark.parametrize(
    "arguments",
    [
        {"files": "top.jpg"},
        {"files": ["top.jpg", "a/1.jpg"]},
        {"files": ["top.jpg", "a/1.jpg"], "labels": [5, -6]},
        {"files": ["top.jpg"], "labels": 5},
        {"files": ["top.jpg"], "file_filters": ["*.png"], "dir_filters": ["x"]},
        {"files": ["top.jpg", "a/1.jpg"], "labels": [5]},
        {"files": ["top.jpg", "a/1.jpg"], "labels": []},
        {"files": ["top.jpg"], "file_filters": []},
        {"files": []},
        {"files": [], "labels": []},
        {"labels": [1]},
        {"files": ["top.jpg"], "file_list": "list.txt"},
    ],
    ids=str,
)
def test_given_files_as_dali_takes_them(tree, dali_lists, arguments):
    arguments = dict(arguments, file_root=str(tree))
    assert listed(arguments) == dali_lists(arguments)


def test_names_in_a_list_are_relative_to_file_root_or_to_the_list(tree):
    (tree / "B/list.txt").write_text(f"1.jpg 0\n{tree / 'top.jpg'} 1")
    root, lists_folder = str(tree / "a"), str(tree / "B")
    with_root = list_files(file_root=root, file_list=tree / "B/list.txt")
    assert [with_root.path(0), with_root.path(1)] == [f"{root}/1.jpg", f"{tree}/top.jpg"]
    assert list_files(file_list=tree / "B/list.txt").path(0) == f"{lists_folder}/1.jpg"


def test_names_need_not_be_unicode(tmp_path):
    (tmp_path / "class").mkdir()
    names = [b"\xff.jpg", b"a.jpg", "é.jpg".encode()]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/class/" + name)).touch()
    found = list_files(tmp_path)
    folder = os.fsencode(tmp_path) + b"/class/"
    assert found.index().names == b"".join(folder + name + b"\0" for name in sorted(names))
    assert all(os.path.exists(found.path(i)) for i in range(len(found)))


def test_a_missing_file_is_listed_since_no_file_is_looked_at(tmp_path):
    (tmp_path / "class").mkdir()
    (tmp_path / "class/broken.jpg").symlink_to("nowhere")
    assert list_files(tmp_path).names == ["class/broken.jpg"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ArgumentError, "file_root is missing"),
        ({"file_root": "{}/nowhere"}, ReadError, "file_root='{}/nowhere'.*No such file"),
        ({"file_root": "{}/top.jpg"}, ReadError, "Not a directory"),
        ({"file_root": "{}/empty"}, ArgumentError, "file_root='{}/empty': no file in its 0"),
        ({"file_list": "{}/nowhere.txt"}, ReadError, "file_list='{}/nowhere.txt'.*No such file"),
        ({"file_list": "{}"}, ReadError, "Is a directory"),
        ({"file_list": "{}/bad.txt"}, ArgumentError, "bad.txt': line 2 is 'b.jpg'"),
        ({"file_list": "{}/big.txt"}, ArgumentError, "line 1 is 'a.jpg 2147483648'"),
        ({"file_list": "{}/binary.txt"}, ArgumentError, "zero byte"),
        ({"files": ["a"], "file_list": "b"}, ArgumentError, "files and file_list"),
        ({"files": ["a", "b"], "labels": [1]}, ArgumentError, "labels has 1 elements, files has 2"),
        ({"files": ["a"], "labels": [1.5]}, ArgumentTypeError, r"labels=\[1.5\]"),  # DALI reads 1
        ({"files": ["a", "b"], "labels": [1, 2**31]}, ArgumentError, r"labels\[1\]=2147483648"),  # DALI reads -2**31
        ({"files": ["a\0b"]}, ArgumentError, "zero byte"),
        ({"files": [7]}, ArgumentTypeError, r"files=\[7\]"),
        ({"file_root": "{}", "dir_filters": []}, ArgumentError, r"dir_filters=\[\]"),
    ],
    ids=str,
)
def test_refusals_name_the_argument_and_its_value(tmp_path, arguments, error, message):
    (tmp_path / "top.jpg").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.txt").write_text("a.jpg 1\nb.jpg\n")
    (tmp_path / "binary.txt").write_bytes(b"a\0.jpg 1\n")
    (tmp_path / "big.txt").write_text("a.jpg 2147483648\n")
    arguments = {k: v.format(tmp_path) if isinstance(v, str) else v for k, v in arguments.items()}
    with pytest.raises(error, match=message.replace("{}", str(tmp_path))):
        list_files(**arguments)
