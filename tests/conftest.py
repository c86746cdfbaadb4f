"""Fixtures and settings shared by all tests."""

import os

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run where CI is set, new ones elsewhere; compiled code may take seconds at its first call.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture
def rng():
    """A random generator that starts alike in every test."""
    return np.random.default_rng(20240229)
