"""The compiler of kernels, imported only in a process that compiles.

There are two ways: `pipeline`, Numba's compiler set up for kernels, whose object code is kept; and `plain`, Numba as it comes,
which takes over where the first cannot be set up: Numba's inner parts change without notice.
"""

from __future__ import annotations

from kinegrad.errors import KinegradError
from kinegrad.kernels import checks, store
from kinegrad.kernels.compiler import versions
from kinegrad.kernels.jit import plain_is_asked
from kinegrad.kernels.notices import tell

_way = None


def way():
    """The module that compiles: `pipeline` or `plain`."""
    if _way is None:
        _choose()
    return _way


def machine_code(function, kinds, symbol: str, keep: bool = False) -> tuple[int, str]:
    """Address of a C function ``void(int64)`` that runs `function`, and what it returns (see `kinegrad.kernels.jit`).

    Object code gets the name `symbol` and, with `keep`, is written for other processes.
    """
    chosen = way()
    try:
        return _compile(function, kinds, symbol, keep)
    except Exception as error:
        if _works():
            raise  # the fault is in the function
        if not chosen.KEEPS:
            raise KinegradError(_no_way(error)) from error
        _take_plain(_in_words(error))
    return machine_code(function, kinds, symbol)


def _compile(function, kinds, symbol: str, keep: bool = False) -> tuple[int, str]:
    if not _way.KEEPS:
        return _way.machine_code(function, kinds)
    code, returns = _way.object_code(function, kinds, symbol)
    address = store.load(code, symbol)
    if keep:
        store.write(symbol, code, returns)
    return address, returns


def _choose() -> None:
    """Take the pipeline if it can be imported and, with an untried Numba, if it does a small piece of work."""
    global _way
    try:
        import numba  # noqa: F401
    except Exception as error:
        raise KinegradError(_no_way(error)) from error
    if plain_is_asked():
        _take_plain("KINEGRAD_COMPILER=plain asks not to")
        return
    try:
        from kinegrad.kernels.compiler import pipeline
    except Exception as error:
        _take_plain(_in_words(error))
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


def _take_plain(reason: str) -> None:
    global _way
    if checks.ON:
        raise KinegradError(
            f"The checked mode (KINEGRAD_CHECK=1) cannot be set up with {versions.told()}: {reason}. Try: {versions.remedy()}."
        )
    from kinegrad.kernels.compiler import plain

    _way = plain
    tell(
        f"the compiler is not set up with {versions.told()}: {reason}. Numba's own takes over, which compiles in every process "
        f"and runs slower; better: {versions.remedy()}"
    )


def _works() -> bool:
    """Whether the way taken can compile at all."""
    try:
        from kinegrad.kernels.compiler import probe

        return probe.works(lambda function, kinds: _compile(function, kinds, "kinegrad_probe"))
    except Exception:
        return False


def _no_way(error: Exception) -> str:
    return (
        f"{versions.told()} cannot compile on this machine: {_in_words(error)}. Install another: {versions.remedy()}; or set "
        f"NUMBA_DISABLE_JIT=1, to run without a compiler, hundreds of times slower."
    )


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}, {' '.join(str(error).split())[:200]}"
