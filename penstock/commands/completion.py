"""Prints a script that completes commands, options and files for a shell. It also makes ``penstock`` a name for
``python -m penstock`` where there is no program of that name.
"""

from __future__ import annotations

import argparse
import shlex
import sys

HELP = "a script by which a shell completes commands and options"
EXAMPLES = """
    eval "$(python -m penstock completion bash)"
    python -m penstock completion zsh >> ~/.zshrc
    python -m penstock completion fish > ~/.config/fish/conf.d/penstock.fish
"""
_NAMED = 'command -v penstock >/dev/null || penstock() {{ {python} -m penstock "$@"; }}'
_BASH = """{named}
_penstock() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _penstock penstock"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(options: argparse.Namespace) -> int:
    print(script(options.shell))
    return 0


def script(shell: str) -> str:
    """The script, of all commands that there are."""
    from penstock.commands import parser

    parts = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    words = {name: [o for a in part._actions for o in a.option_strings if o[1] == "-"] for name, part in parts.items()}
    if shell == "fish":
        return _fish(words)
    cases = "\n".join(f'    {name}) words="{" ".join(options)}" ;;' for name, options in words.items())
    named = _NAMED.format(python=shlex.quote(sys.executable))
    text = _BASH.format(named=named, commands=" ".join(words), cases=cases)
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _fish(words: dict[str, list[str]]) -> str:
    python = shlex.quote(sys.executable)
    lines = [f"type -q penstock; or function penstock; {python} -m penstock $argv; end"]
    lines += [f"complete -c penstock -n __fish_use_subcommand -f -a {name}" for name in words]
    for name, options in words.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c penstock -n {seen} -l {option[2:]}" for option in options]
    return "\n".join(lines)
