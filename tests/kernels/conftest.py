import pytest
from mini_package import Mini


@pytest.fixture
def mini(tmp_path):
    """A package with a cache of its own."""
    return Mini(tmp_path)
