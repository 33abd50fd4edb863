"""``fn.readers.file``: files and labels of a folder, a list or given names."""

from __future__ import annotations

from penstock.op import arg, op
from penstock.read.base import SamplesShuffler
from penstock.read.index import Index
from penstock.read.listing import list_files


@op("readers.file", kernel="read_ranges", inputs=0, legacy=["file_reader"])
class File(SamplesShuffler):
    """Reads files and their labels.

    The files come from one of three places: ``file_root`` with one sub-folder per class (a file's label is its
    folder's rank), ``file_list`` (a text file of lines "name label"), or ``files`` with ``labels``.

    Outputs: the files' bytes, uint8 of shape ``(size,)``, and the labels, int32 of shape ``(1,)``.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError for folders, lists or
    files that cannot be read, naming them.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.file(file_root=photos, name="Reader"))
        >>> files, labels = pipeline().run()
        >>> labels.as_array().shape
        (2, 1)
    """

    file_root = arg(
        None,
        "Folder of class folders, or what names are relative to.",
        kind="path",
        to_kernel=False,
        aka=["path", "root", "folder", "directory", "dir", "data_dir", "image_dir"],
    )
    file_list = arg(None, "Text file of lines 'name label'.", kind="path", to_kernel=False, aka=["list_file"])
    files = arg(None, "Names of files.", kind="paths", to_kernel=False, aka=["filenames", "paths"])
    labels = arg(
        None,
        "One label per file of `files`; default 0, 1, 2 ...",
        kind="integers",
        to_kernel=False,
        aka=["targets", "classes"],
    )
    file_filters = arg(
        None,
        "Patterns; a file's name must match one. Default: those of sounds, and of all formats of pictures.",
        kind="strings",
        to_kernel=False,
    )
    dir_filters = arg(None, "Patterns; a sub-folder's name must match one.", kind="strings", to_kernel=False)
    case_sensitive_filter = arg(False, "Whether patterns tell upper from lower case.", to_kernel=False)

    def num_outputs(self) -> int:
        return 2

    def make_index(self) -> Index:
        return list_files(
            self.file_root,
            self.file_list,
            self.files,
            self.labels,
            self.file_filters,
            self.dir_filters,
            self.case_sensitive_filter,
        ).index()
