"""A small package with its own copy of the decorators and of the compiler, to be used in processes of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kinegrad.kernels import folders

MAIN = """
from mini.jit import cfunction, entry
from mini.helper import twice

@entry(what="the mini package")
def run(x):
    return twice(x)

@entry(what="the mini package")
def run_again(x):
    return twice(x) + 1.0

@cfunction(what="a C function")
def nothing(ctx):
    pass
"""
HELPER = """
from mini.jit import kernel

@kernel
def twice(x):
    return 2.0 * x
"""
USE = "from mini.main import *; print(run(3.0), run_again(3.0), nothing.address > 0)"
NUMBA_IS_THERE = "; import sys; print('numba' in sys.modules)"


class Mini:
    """A package with its own copy of the decorators and of the compiler, used in processes of its own."""

    def __init__(self, folder: Path):
        self.folder, self.package, self.cache = folder, folder / "mini", folder / "cache"
        shutil.copytree(
            folders.SOURCES / "compiler", self.package / "compiler", ignore=shutil.ignore_patterns("__pycache__")
        )
        for name in ("jit", "store", "folders", "names", "notices", "checks", "lapack", "words"):
            shutil.copy(folders.SOURCES / f"{name}.py", self.package)
        shutil.copy(folders.SOURCES.parent / "errors.py", self.package)
        for path in self.package.rglob("*.py"):
            text = path.read_text().replace("kinegrad.kernels", "mini").replace("kinegrad.errors", "mini.errors")
            path.write_text(text)
        self.write("__init__", "")
        self.write("main", MAIN)
        self.write("helper", HELPER)

    def write(self, module: str, source: str):
        (self.package / f"{module}.py").write_text(source)

    def start(self, source: str = USE, **variables: str) -> subprocess.Popen:
        """A process that runs `source`; without the settings of the tests' own process."""
        env = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT" and not k.startswith("KINEGRAD_")}
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        env |= {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONPATH": path} | variables
        command = [sys.executable, "-B", "-c", source]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=env, cwd=self.folder, stdout=pipe, stderr=pipe, text=True)

    def run(self, source: str = USE, **variables: str) -> tuple[str, str]:
        """What such a process prints, on standard output and on standard error."""
        return finished(self.start(source, **variables))


def finished(process: subprocess.Popen) -> tuple[str, str]:
    """What a process printed until its end, which must be a good one."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err


def notices(stderr: str) -> list[str]:
    """What was compiled, by the notices."""
    return re.findall(r"kinegrad: compiling (.*), once per machine", stderr)
