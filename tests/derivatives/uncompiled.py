"""Results of scripts that run in processes of their own, without the compiler: there complex numbers pass."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROCESSES = 2


def uncompiled_results(script: str) -> dict:
    """What the processes print as JSON objects, together; each gets their number and its own as arguments."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    running = [
        subprocess.Popen(
            [sys.executable, script, str(PROCESSES), str(k)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for k in range(PROCESSES)
    ]  # fmt: skip
    results = {}
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        results |= json.loads(output)
    return results
