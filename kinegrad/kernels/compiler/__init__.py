"""The compiler of kernels, imported only in a process that compiles.

There are two ways: `pipeline`, Numba's compiler set up for kernels, whose object code is kept; and `plain`, Numba as it comes,
which takes over where the first cannot be set up: Numba's inner parts change without notice.
"""

from __future__ import annotations

from kinegrad.errors import KinegradError
from kinegrad.kernels import store
from kinegrad.kernels.compiler import versions
from kinegrad.kernels.notices import tell

_way = None


def way():
    """The module that compiles: `pipeline` or `plain`."""
    if _way is None:
        _choose()
    return _way


def machine_code(function, kinds, symbol: str, keep: bool) -> tuple[int, str]:
    """Address of a C function ``void(int64)`` that runs `function`, and what it returns (see `kinegrad.kernels.jit`).

    Object code gets the name `symbol` and, with `keep`, is written for other processes.
    """
    chosen = way()
    try:
        return _compile(function, kinds, symbol, keep)
    except Exception as error:
        if _works():
            raise  # the fault is in the function
        if not _is_pipeline(chosen):
            raise KinegradError(_no_way(error)) from error
        _take_plain(error)
    return machine_code(function, kinds, symbol, keep)


def _compile(function, kinds, symbol: str, keep: bool) -> tuple[int, str]:
    if not _is_pipeline(_way):
        return _way.machine_code(function, kinds)
    code, returns = _way.object_code(function, kinds, symbol)
    address = store.load(code, symbol)
    if keep:
        store.write(symbol, code, returns)
    return address, returns


def _is_pipeline(module) -> bool:
    return module.__name__.endswith(".pipeline")


def _choose() -> None:
    """Take the pipeline if it can be imported and, with an untried Numba, if it does a small piece of work."""
    global _way
    try:
        import numba  # noqa: F401
    except Exception as error:
        raise KinegradError(_no_way(error)) from error
    try:
        from kinegrad.kernels.compiler import pipeline
    except Exception as error:
        _take_plain(error)
        return
    _way = pipeline
    if versions.is_tried():
        return
    if _works():
        tell(
            f"{versions.told()} is new to kinegrad, and did a small trial well; if something fails: {versions.remedy()}"
        )
    else:
        _take_plain("a small trial failed")


def _take_plain(reason) -> None:
    from kinegrad.kernels.compiler import plain

    global _way
    _way = plain
    tell(
        f"the compiler cannot be set up with {versions.told()}: {_in_words(reason)}. Numba's own takes over, which compiles "
        f"in every process and runs slower; better: {versions.remedy()}"
    )


def _works() -> bool:
    """Whether the way taken can compile at all."""
    from kinegrad.kernels.compiler import probe

    try:
        return probe.works(lambda function, kinds: _compile(function, kinds, "kinegrad_probe", False))
    except Exception:
        return False


def _no_way(error: Exception) -> str:
    return (
        f"{versions.told()} cannot compile on this machine: {_in_words(error)}. Install another: {versions.remedy()}; or set "
        f"NUMBA_DISABLE_JIT=1, to run without a compiler, hundreds of times slower."
    )


def _in_words(reason) -> str:
    if not isinstance(reason, Exception):
        return reason
    return f"{type(reason).__name__}, {' '.join(str(reason).split())[:200]}"
