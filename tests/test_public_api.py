"""The public names, so that a change of them shows in a diff."""

import re
import subprocess
import sys
import types
from pathlib import Path

import kinegrad as kg

NAMES = """
ALI3P AccuracyWarning Actuator Angle AngularRates Assembly AssemblyError AxisInertia Body Bushing Cardan Certificate
Coincidence Comparison ComparisonRow ContinuousAdjoint Cylindrical DerivativeWarning Direct DiscreteAdjoint Distance Dot
Driver ElementEquations Equations Equilibrium Evaluation ExpressionError Fixed Floating FloatingStart Force FrameMarker
Freedom FrontResult GeneralizedAlpha Gradient GradientCheck Gravity Ground Guidance HHT Hessian Histories Index1 Inverse
IterationWarning KinegradError Linear Link MatrixR Mobility Model ModelError ModelWarning Motion MultistartResult
NamedArray Newmark Objective Parallel Penalty Planar PointInPlane PointMarker PointMass PointOnLine Pose PositionRow
Prismatic Problem Reactions Recursive Revolute RungeKutta4 RungeKutta54 SameDirection Screw Signal Simulation
SimulationError Spherical SphericalStart Spline Spring State Stepper StepperState Study StudyProblem StudyResult
SweepResult Torque UdwadiaKalaba UnusedOptionWarning VectorMarker VelocityRow __version__ angular_rates assemble box
bridge check_gradient compare cylinder drive equilibrium gradient hessian hessian_product inverse joint law load lower
mobility natural reference_point rod rotations simulate sphere
"""


def test_public_names():
    assert sorted(kg.__all__) == NAMES.split()
    assert len(set(kg.__all__)) == len(kg.__all__)


def test_the_page_of_the_interface_has_them_all():
    """Each public name has its entry in docs/api.md, the entries are public, and the members that they list exist."""
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\.\. auto(\w+):: kinegrad\.(\w+)\n(?:   :members: (.+)\n)?", page, re.MULTILINE)
    assert sorted(name for _, name, _ in entries) == sorted(set(kg.__all__) - {"__version__"})
    for kind, name, members in entries:
        found = getattr(kg, name)
        expected = "module" if kind == "module" else "exception" if _is_exception(found) else "class"
        assert kind == (expected if isinstance(found, type | types.ModuleType) else "function"), name
        fields = {*dir(found), *getattr(found, "__dataclass_fields__", ()), *getattr(found, "model_fields", ())}
        assert {member for member in members.split(", ") if member} <= fields | _own(found), name


def _is_exception(found):
    return isinstance(found, type) and issubclass(found, BaseException)


def _own(found):
    """Attributes that a class announces by annotations."""
    return {name for kind in getattr(found, "__mro__", ()) for name in getattr(kind, "__annotations__", {})}


def test_every_element_of_a_model_is_public():
    from kinegrad.model.constraints import CONSTRAINTS
    from kinegrad.model.forces import FORCES
    from kinegrad.model.joints import JOINTS

    for kind in (*JOINTS.values(), *FORCES.values(), *CONSTRAINTS.values()):
        assert getattr(kg, kind.__name__) is kind


def test_what_is_public_runs():
    """Formulations and integrators are public when a simulation can use them."""
    from kinegrad.dynamics.schemes import SCHEMES
    from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

    for position, table in enumerate((FORMULATIONS, INTEGRATORS)):
        offered = {key[position] for key in SCHEMES}
        assert {kind.__name__ for name, kind in table.items() if name in offered} == {
            kind.__name__ for kind in table.values() if kind.__name__ in kg.__all__
        }


def test_a_module_does_not_hide_the_function_of_its_name():
    """Whatever is imported first, kg.simulate is the function."""
    program = (
        "import kinegrad.simulate, kinegrad.sensitivity.gradient, kinegrad.rotations, kinegrad as kg\n"
        "assert callable(kg.simulate) and callable(kg.gradient) and callable(kg.joint), kg.simulate\n"
        "from kinegrad import rotations, simulate\n"
        "assert simulate is kg.simulate and rotations is kg.rotations and callable(rotations.p_from_A)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
