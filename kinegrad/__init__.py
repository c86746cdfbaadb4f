"""kinegrad: rigid multibody systems, simulated and differentiated."""

import importlib
import sys
import types

__version__ = "0.1.0"

#: Public names by theme, each with the module it comes from.
_PUBLIC = {
    # a model, and what it is described with
    "Model": "model.model",
    **dict.fromkeys(("Body", "Ground", "PointMarker", "VectorMarker", "FrameMarker"), "model.bodies"),
    **dict.fromkeys(("AxisInertia", "PointMass", "Pose"), "model.bodies"),
    **dict.fromkeys(("rod", "box", "cylinder", "sphere"), "model.inertia"),
    **dict.fromkeys(("Revolute", "Prismatic", "Cylindrical", "Screw", "Cardan"), "model.joints"),
    **dict.fromkeys(("Spherical", "Floating", "Planar", "Fixed", "Link"), "model.joints"),
    **dict.fromkeys(("Gravity", "Spring", "Bushing", "Force", "Torque", "Spline", "Actuator"), "model.forces"),
    **dict.fromkeys(("Coincidence", "Distance", "Dot", "Angle", "Linear", "Guidance"), "model.constraints"),
    **dict.fromkeys(("Parallel", "SameDirection", "PointOnLine", "PointInPlane"), "model.constraints"),
    **dict.fromkeys(("PositionRow", "VelocityRow"), "model.constraints"),
    **dict.fromkeys(("Driver", "Freedom", "SphericalStart", "FloatingStart", "Objective"), "model.constraints"),
    "law": "laws",
    "Simulation": "model.simulation",
    # its equations, and their solution in time
    **dict.fromkeys(("lower", "joint", "reference_point", "natural"), "coordinates.sets"),
    **dict.fromkeys(("mobility", "Mobility"), "kinematics.mobility"),
    "Equations": "equations.system",
    "ElementEquations": "equations.element",
    "NamedArray": "equations.named",
    "simulate": "simulate",
    **dict.fromkeys(("Stepper", "StepperState"), "stepper"),
    **dict.fromkeys(("ALI3P", "MatrixR", "Index1", "Penalty", "Recursive", "UdwadiaKalaba"), "model.simulation"),
    **dict.fromkeys(("Newmark", "HHT", "GeneralizedAlpha", "RungeKutta4", "RungeKutta54"), "model.simulation"),
    "Motion": "motion",
    "Signal": "model.signals",
    "Histories": "signals.histories",
    "State": "starts",
    "load": "results",
    **dict.fromkeys(("compare", "Comparison", "ComparisonRow"), "studies.compare"),
    # designs that are best
    "Study": "optimize.study",
    "StudyResult": "optimize.result",
    "StudyProblem": "optimize.problem",
    "Evaluation": "optimize.evaluation",
    "MultistartResult": "optimize.multistart",
    "SweepResult": "optimize.sweep",
    "FrontResult": "optimize.front",
    # derivatives
    "gradient": "sensitivity.gradient",
    "Gradient": "sensitivity.result",
    "Direct": "sensitivity.direct",
    "DiscreteAdjoint": "sensitivity.discrete_adjoint",
    "ContinuousAdjoint": "sensitivity.continuous_adjoint",
    "GradientCheck": "sensitivity.differences",
    "Certificate": "sensitivity.certificate",
    "check_gradient": "sensitivity.certificate",
    "Hessian": "sensitivity.hessian",
    "hessian": "sensitivity.hessian",
    "hessian_product": "sensitivity.hessian",
    # rest, and motions that are given
    **dict.fromkeys(("assemble", "Assembly"), "statics.assembly"),
    "equilibrium": "statics.equilibrium",
    "Equilibrium": "statics.equilibrium",
    "drive": "statics.drive",
    **dict.fromkeys(("angular_rates", "AngularRates"), "statics.angular"),
    "inverse": "statics.inverse",
    "Inverse": "statics.inverse",
    "Reactions": "reactions.result",
    # tools
    "rotations": None,
    "bridge": None,
    **dict.fromkeys(("KinegradError", "ModelError", "ExpressionError", "AssemblyError", "SimulationError"), "errors"),
    **dict.fromkeys(
        ("AccuracyWarning", "DerivativeWarning", "IterationWarning", "ModelWarning", "UnusedOptionWarning"), "errors"
    ),
    "Problem": "errors",
}

__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name):
    """Load the module of a public name at its first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kinegrad' has no attribute {name!r}")
    module = importlib.import_module(f"kinegrad.{_PUBLIC[name] or name}")
    value = module if _PUBLIC[name] is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_PUBLIC})


class _Package(types.ModuleType):
    """The package: an import of the module ``kinegrad.simulate`` does not hide the function of that name."""

    def __setattr__(self, name, value):
        if not (_PUBLIC.get(name) and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
