import pytest
from mini_package import Mini

from kinegrad.kernels import checks
from kinegrad.kernels.jit import JIT


@pytest.fixture
def mini(tmp_path):
    """A package with a cache of its own."""
    if checks.ON or not JIT:
        pytest.skip("it runs in processes of its own, which are the same in every mode")
    return Mini(tmp_path)
