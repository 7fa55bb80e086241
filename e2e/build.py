"""
Build the programs of the chain once: `python -m e2e.build [--only NAME]`.

What is built lies in a cache outside the repository, in a folder whose name holds a hash of the recipe, the manifest
and the version of Go. So nothing stale is ever run, and a second call takes a second.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from e2e.recipes import RECIPES, CollectorRecipe, Module, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CACHE_VARIABLE: Final = "ERRCOMPACT_E2E_CACHE"
REPORT_EVERY: Final = 30
"""Seconds between two signs of life of a build."""

LINES_SHOWN: Final = 20
"""The end of a failed build's log."""


class BuildError(Exception):
    """
    A program could not be built; the message says what to do.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what is missing, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.build", description=__doc__.strip().splitlines()[0])
    names = [recipe.name for recipe in RECIPES]
    parser.add_argument("--only", choices=names, action="append", help="build this one alone; may be given repeatedly")
    asked = parser.parse_args(arguments).only
    reason = go_is_missing()
    if reason:
        _say("go", reason)
        return 1 if os.environ.get("CI") else 0
    try:
        for recipe in RECIPES:
            if not asked or recipe.name in asked:
                build(recipe)
    except BuildError as error:
        print(f"e2e.build: {error}", file=sys.stderr)
        return 1
    return 0


def program(name: str) -> Path:
    """
    Return where a program lies.

    Raises:
        BuildError: It has not been built.
    """
    recipe = next(recipe for recipe in RECIPES if name in recipe.programs)
    path = folder(recipe) / name
    if not path.exists():
        raise BuildError(f"{name} has not been built: python -m e2e.build --only {recipe.name}")
    return path


def folder(recipe: Recipe | CollectorRecipe) -> Path:
    """Return where the programs of a recipe lie, whether or not they have been built."""
    return cache() / f"{recipe.name}-{_key(recipe)}"


def cache() -> Path:
    """Return the folder of everything that is built."""
    return Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "otel-errcompact").absolute()


def go_is_missing() -> str:
    """Return why nothing can be built here; empty if it can."""
    if shutil.which("go") is None:
        return "Go is not installed (https://go.dev/dl/, 1.21 or later fetches what it needs): nothing is built"
    return ""


def build(recipe: Recipe | CollectorRecipe) -> Path:
    """
    Build the programs of a recipe unless they are there, and return their folder.

    Raises:
        BuildError: They cannot be built.
    """
    ready = folder(recipe)
    with _locked(recipe.name):
        if ready.is_dir():
            _say(recipe.name, "is built")
            return ready
        work = cache() / "work" / recipe.name
        shutil.rmtree(work, ignore_errors=True)
        made = work / "bin"
        made.mkdir(parents=True)
        log = cache() / f"{recipe.name}.log"
        started, used = time.monotonic(), _processor_seconds()
        with log.open("w", encoding="utf-8") as output:
            shell = _Shell(recipe.name, output.fileno(), log)
            if isinstance(recipe, CollectorRecipe):
                _make_collector(recipe, work, made, shell)
            else:
                _make(recipe, work, made, shell)
        for stale in cache().glob(f"{recipe.name}-*"):
            shutil.rmtree(stale)
        made.rename(ready)
        shutil.rmtree(work)
        took, cost = time.monotonic() - started, _processor_seconds() - used
        _say(recipe.name, f"built in {took:.0f} s ({cost:.0f} s of processor time)")
    return ready


class _Shell:
    """
    Runs the commands of one build, with their output in its log.
    """

    def __init__(self, name: str, output: int, log: Path) -> None:
        self._name = name
        self._output = output
        self._log = log

    def run(self, command: Sequence[str], directory: Path) -> None:
        """
        Run one command, with a sign of life from time to time.

        Raises:
            BuildError: It failed.
        """
        _say(self._name, " ".join(command[:2]))
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=directory, env=go_environ(), stdout=self._output, stderr=subprocess.STDOUT
        )
        while True:
            try:
                code = process.wait(REPORT_EVERY)
                break
            except subprocess.TimeoutExpired:
                _say(self._name, f"... {time.monotonic() - started:.0f} s")
            except BaseException:
                process.kill()
                raise
        if code:
            end = "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_SHOWN:])
            raise BuildError(f"{self._name}: {' '.join(command)} failed with {code}; the end of {self._log}:\n{end}")


def _make(recipe: Recipe, work: Path, made: Path, shell: _Shell) -> None:
    source = work / "source"
    _copy(recipe.module, source)
    for name, text in recipe.files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    # Not from a module's vendor folder, of which the proxy carries a list and no code.
    command = ["go", "build", "-mod=readonly", "-ldflags=-s -w", f"-tags={recipe.tags}"]
    command += ["-o", f"{made}/", *recipe.packages]
    shell.run(command, source)


def _make_collector(recipe: CollectorRecipe, work: Path, made: Path, shell: _Shell) -> None:
    source = work / "builder"
    _copy(recipe.builder, source)
    shell.run(["go", "build", "-ldflags=-s -w", "-o", f"{work}/ocb", "."], source)
    manifest = yaml.safe_load(recipe.manifest.read_bytes())
    # The manifest says where the image's build puts the program; here it has to lie in the cache.
    manifest["dist"].update(name=recipe.program, output_path=str(work / "generated"))
    (work / "builder.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    shell.run([f"{work}/ocb", "--config", "builder.yaml"], work)
    (work / "generated" / recipe.program).rename(made / recipe.program)


def fetched(module: Module) -> Path:
    """
    Return the read-only folder in which Go keeps the source of a module.

    Raises:
        BuildError: It cannot be fetched, or is not what it was.
    """
    cache().mkdir(parents=True, exist_ok=True)
    command = ["go", "mod", "download", "-json", str(module)]
    # In a folder that is no module: inside one, Go would ask that module's replacements first.
    answer = subprocess.run(command, cwd=cache(), env=go_environ(), capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildError(f"{module} cannot be fetched: {answer.stdout or answer.stderr}")
    got = json.loads(answer.stdout)
    if got["Sum"] != module.sum:
        raise BuildError(f"{module} hashes to {got['Sum']}, expected {module.sum}: the proxy delivers something else")
    return Path(got["Dir"])


def _copy(module: Module, to: Path) -> None:
    """Copy a module out of Go's own cache, where nothing can be changed."""
    to.mkdir(parents=True, exist_ok=True)
    source = fetched(module)
    for directory, _, names in os.walk(source):
        target = to / Path(directory).relative_to(source)
        target.mkdir(exist_ok=True)
        for name in names:
            shutil.copyfile(Path(directory, name), target / name)


def _key(recipe: Recipe | CollectorRecipe) -> str:
    parts = [repr(recipe).replace(str(Path(__file__).parent.parent), ""), _go_version()]
    if isinstance(recipe, CollectorRecipe):
        parts.append(recipe.manifest.read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _go_version() -> str:
    answer = subprocess.run(["go", "env", "GOVERSION"], env=go_environ(), capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def go_environ() -> Mapping[str, str]:
    """
    Return the environment in which Go builds: all that is built shares what was compiled, so all is built alike.

    Without a workspace, which modules bring along for their own developers, and without C, as releases are. What a
    debugger would need is thrown away by the linker in any case, and a compiler that collects its garbage seldom takes
    a fifth less of the processor.
    """
    flags = "-buildvcs=false -trimpath -gcflags=all=-dwarf=false"
    return {**os.environ, "GOWORK": "off", "GOFLAGS": flags, "CGO_ENABLED": "0", "GOGC": "400"}


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Let only one process at a time build a program."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(name: str, what: str) -> None:
    print(f"{name:<13} {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
