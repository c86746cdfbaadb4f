"""Where numbers come from: the machine, the packages, and which of the other programs are installed."""

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSTALL_PEERS = 'python -m pip install "kinegrad[bench]"'
# a package to import, and the name of its distribution where that differs
DISTRIBUTION = {"kinegrad": "kinegrad", "numba": "numba", "numpy": "numpy", "exudyn": "exudyn", "mujoco": "mujoco"}
DISTRIBUTION |= {"pinocchio": "pin", "casadi": "casadi"}


def machine() -> list[str]:
    """Lines that say where the numbers come from: processor, Python, packages and the commit of the sources."""
    versions = []
    for package, distribution in DISTRIBUTION.items():
        try:
            versions.append(f"{package} {importlib.metadata.version(distribution)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    return [
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}, {', '.join(versions)}",
        f"commit {_commit()}",
    ]


def is_installed(package: str, who: str) -> bool:
    """Whether `who` can take part; if not, a line on standard error says how to change that."""
    if importlib.util.find_spec(package):
        return True
    print(f"{who} is left out: {package} is not installed. To install it: {INSTALL_PEERS}", file=sys.stderr)
    return False


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _commit() -> str:
    """Short hash, with a plus sign when tracked files differ from it."""

    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=PACKAGE, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
