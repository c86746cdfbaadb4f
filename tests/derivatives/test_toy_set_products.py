"""Every product of a set that kinegrad does not have against complex step, as those of the joint set."""

import pytest
from products_by_complex_step import PRODUCTS, name_of, random_case, uncompiled
from toy_set import CARRIAGES, RAILS, GantrySet

from kinegrad.model.model import Model

pytestmark = uncompiled


@pytest.fixture(params=[CARRIAGES, RAILS], ids=["carriages", "rails"], scope="module")
def case(request):
    """A random state, and directions that mix all parameters."""
    return random_case(Model.from_yaml_text(request.param).check(), lower=GantrySet.lower)


@pytest.mark.parametrize("check", PRODUCTS, ids=name_of)
def test_products(case, check):
    check(case)
