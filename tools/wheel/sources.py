"""Debian's source packages, with its patches: fetched by apt, which checks their signatures, into the build folder.

The lists that apt keeps for that are of our own, so nothing of the system is changed and no rights are needed.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tools.console import StepError, note, step
from tools.environment import BUILD

FOLDER = BUILD / "wheel" / "sources"
_APT = BUILD / "wheel" / "apt"
_SYSTEM = Path("/etc/apt")
_BINARY = re.compile(r"\bdeb\b(?!-src)")


def source_lists(texts: dict[str, str]) -> dict[str, str]:
    """Lists of binary packages of Debian's own archives, turned into such of source packages; others are left out."""
    out = {}
    for name, text in texts.items():
        if name.endswith(".sources"):
            stanzas = [stanza for stanza in re.split(r"\n\s*\n", text) if re.search(r"(?m)^URIs:.*/debian", stanza)]
            turned = [re.sub(r"(?m)^Types:.*$", "Types: deb-src", stanza.strip("\n")) for stanza in stanzas]
            out[name] = "".join(f"{stanza}\n\n" for stanza in turned)
        else:
            lines = [line for line in text.splitlines() if line.startswith("deb ") and "/debian" in line]
            out[name] = "".join(_BINARY.sub("deb-src", line, count=1) + "\n" for line in lines)
    return {name: text for name, text in out.items() if text}


def _options() -> list[str]:
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": _APT / "lists.d",
        "Dir::State::lists": _APT / "lists",
        "Dir::Cache": _APT / "cache",
        "APT::Sandbox::User": "",  # the one that apt changes to could not write here
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def update() -> None:
    """Fetches the lists of source packages, once."""
    done = _APT / "done"
    if done.exists():
        return
    for folder in (_APT / "lists.d", _APT / "lists" / "partial", _APT / "cache" / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    files = [_SYSTEM / "sources.list", *sorted((_SYSTEM / "sources.list.d").glob("*"))]
    lists = source_lists({path.name: path.read_text() for path in files if path.is_file()})
    if not lists:
        raise StepError(f"{_SYSTEM} has no list of Debian's packages: source packages come from there")
    for name, text in lists.items():
        (_APT / "lists.d" / name).write_text(text)
    step("Updating the list of Debian's sources", ["apt-get", *_options(), "-q", "update"], _APT / "update.log")
    done.touch()


def versions(package: str) -> list[str]:
    """Those that are on offer, newest first."""
    command = ["apt-cache", *_options(), "showsrc", "--only-source", package]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = sorted(set(re.findall(r"(?m)^Version: (\S+)$", shown)))
    ordered: list[str] = []
    for version in found:  # by Debian's own order
        place = next((i for i, other in enumerate(ordered) if _newer(version, other)), len(ordered))
        ordered.insert(place, version)
    if not ordered:
        raise StepError(f"Debian has no source package {package!r}")
    return ordered


def _newer(one: str, other: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0


def fetch(package: str) -> tuple[Path, str]:
    """The unpacked source of a package, and its version: the newest that the mirror has."""
    folder, done = FOLDER / package, FOLDER / f"{package}.version"
    if done.exists():
        return folder, done.read_text()
    FOLDER.mkdir(parents=True, exist_ok=True)
    offered = versions(package)
    for version in offered:
        # A mirror may lack an upstream's signature, and apt fails for that, having checked and kept all the rest.
        script = 'cd "$0" && rm -rf "$1"; apt-get "${@:3}" -q source --download-only --only-source "$1=$2"'
        script += '; dpkg-source --no-check -x "$1"_"${2#*:}".dsc "$1"'
        command = ["bash", "-c", script, str(FOLDER), package, version, *_options()]
        try:
            step(f"Fetching the source of {package} {version}", command, FOLDER / f"{package}.log")
        except StepError:
            if version == offered[-1]:
                raise
            note(f"  the mirror lists {package} {version}, and has not got it")
            continue
        done.write_text(version)
        break
    return folder, done.read_text()
