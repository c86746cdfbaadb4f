"""Every product of the joint set, with all kinds of elements at once, against complex step of M, f, Phi and g."""

import pytest
from mechanisms import CLOSED, closed, tree
from products_by_complex_step import PRODUCTS, by_slots, name_of, random_case, uncompiled

pytestmark = uncompiled


@pytest.fixture(params=["tree", *CLOSED], scope="module")
def case(request):
    """A random state, and directions that mix all parameters."""
    return random_case(tree() if request.param == "tree" else closed(request.param))


@pytest.mark.parametrize("check", (*PRODUCTS, by_slots), ids=name_of)
def test_products(case, check):
    check(case)
