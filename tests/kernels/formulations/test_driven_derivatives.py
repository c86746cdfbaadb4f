"""Derivatives at the instants of a motion by drivers, by complex step."""

import numpy as np
import pytest
from products_by_complex_step import uncompiled
from statics.test_inverse import DRIVEN_BAR

import kinegrad as kg
from kinegrad.statics.drive import drive
from kinegrad.statics.instants import Instants


@uncompiled
def test_multipliers_and_objectives_by_complex_step():
    model = kg.Model.from_yaml_text("kinegrad: 1\n" + DRIVEN_BAR)
    model.objectives["path"] = {"integral": "norm2(b.C.velocity) + a.B.acceleration.y"}
    base, names = kg.joint(model), ["coupler", "w"]
    motion = drive(base, t_end=0.03, step=0.01)
    found = Instants(motion, base.directions(names)).along()
    slopes = [kg.gradient(motion, wrt=names, method=m).matrix for m in ("direct", "adjoint")]
    for k, direction in enumerate(base.directions(names)):
        there = drive(base, t_end=0.03, step=0.01, s=base.s + 1e-30j * direction)
        assert np.abs(there.lam.imag / 1e-30 - found.lam[:, :, k]).max() < 1e-10
        for slope in slopes:
            assert slope[0, k] == pytest.approx(np.imag(there.objectives["path"]) / 1e-30, rel=1e-11)
