"""The list of kinds of elements, their tables and their stages: `kinds`, `stages` and `layout`."""

import importlib
import pkgutil
import re

import numpy as np
import pytest
from bushing_models import open_tree
from mechanisms import tree
from own_models import four_bar

from kinegrad.coordinates.sets import joint
from kinegrad.kernels import elements
from kinegrad.kernels.elements import signals, stages
from kinegrad.kernels.elements.kinds import KINDS, STAGES, empty_stages, link_stages, taking_part
from kinegrad.kernels.elements.layout import ELEMENTS, N_COUNT
from kinegrad.kernels.elements.stages import CALLS, COUNT, ENERGY, FIRST, FORCES, N_STAGES, PULL, SCALARS, Kind
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.records import RECORDS
from kinegrad.kernels.table import address

MODULES = [importlib.import_module(f"{elements.__name__}.{m.name}") for m in pkgutil.iter_modules(elements.__path__)]
DERIVATIVES = {
    stages.FORCES: {stages.LINEAR_FORCES, PULL},
    stages.ROWS: {stages.BIAS, stages.LINEAR_ROWS, PULL},
    stages.OBJECTIVES: {stages.LINEAR_OBJECTIVES, PULL},
}


def test_every_kind_of_the_folder_is_listed():
    assert {id(m.KIND) for m in MODULES if hasattr(m, "KIND")} == {id(kind) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.table)
def test_tables_and_stages_of_a_kind(kind):
    fields = {name: [field[0] for field in RECORDS[name]] for name in kind.tables if name in RECORDS}
    assert set(kind.tables) <= set(ELEMENTS.index)
    for name, markers in kind.tables.items():
        assert set(markers) <= set(fields.get(name, ()))
    assert kind.count is None or 0 <= kind.count < N_COUNT
    assert set(kind.parts) <= set(range(N_STAGES))
    if kind is signals.KIND:  # they are seen, and never differentiated; objectives are
        return
    for stage, derivatives in DERIVATIVES.items():
        assert stage not in kind.parts or derivatives <= set(kind.parts), "what takes part has to be differentiated"


def test_every_stage_is_told_and_run():
    told = re.findall(r"^    ([A-Z_]+(?:, [A-Z_]+)*)(?:  |$)", stages.__doc__, re.MULTILINE)
    names = ", ".join(told).split(", ")
    assert [getattr(stages, name) for name in names] == list(range(N_STAGES))
    assert {stage for run in STAGES.values() for stage in run} | {CALLS} == set(range(N_STAGES))


def test_elements_stand_after_the_products():
    assert ELEMENTS.fields[: len(PRODUCTS.fields)] == PRODUCTS.fields
    assert set(RECORDS) <= set(ELEMENTS.index)


@pytest.mark.parametrize("model", [tree, open_tree, four_bar], ids=lambda model: model.__name__)
@pytest.mark.parametrize("stage", [FORCES, ENERGY])
def test_a_model_runs_the_parts_it_has(model, stage):
    """In the order of the list, and no others."""
    arrays = joint(model()).workspace().arrays | {"stage": empty_stages()}
    assert arrays["stage"].shape == (N_STAGES, FIRST + len(KINDS))
    link_stages(arrays, (stage,))
    row = arrays["stage"][stage]
    present = [kind for kind in KINDS if stage in kind.parts and any(len(arrays[name]) for name in kind.tables)]
    assert taking_part(arrays, stage) == present
    assert row[COUNT] == len(present) > 0
    assert row[FIRST : FIRST + len(present)].tolist() == [address(kind.parts[stage]) for kind in present]
    assert row[SCALARS] == any(kind.scalars for kind in present)
    assert not row[FIRST + len(present) :].any()


def test_a_kind_has_one_part_a_stage():
    kind = Kind({"spring": ("i", "j")})
    assert kind.at(PULL)(len) is len
    with pytest.raises(ValueError, match=f"a part at stage {PULL} already"):
        kind.at(PULL)(len)


def test_a_kind_works_where_its_numbers_say_so():
    arrays = {"spring": np.arange(2), "none": np.empty(0), "s": np.array([0.0, 3.0])}
    assert Kind({"spring": ()}, works=lambda arrays: arrays["s"].any()).does_work(arrays)
    assert not Kind({"spring": ()}, works=lambda arrays: arrays["s"].all()).does_work(arrays)
    assert not Kind({"none": ()}, works=True).does_work(arrays)
