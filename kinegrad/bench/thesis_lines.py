"""The numerical experiments of a thesis on semi-recursive sensitivities, line by line: what is published of each.

Tables 7.3 to 7.29 and figures 7.2 to 7.51 of its chapter 7 have a line each.  R0 and R1 are its accumulation schemes RTdyn0 and
RTdyn1, here the body points com and origin; nat/rel is the cost in natural coordinates by that in joint coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

PICTURE = "a picture, without numbers"
NO_DATA = "geometry, masses and inertias are not published"
TYRES = "to come: tyres"
OPTIMISATION = "to come: tyres, without which there is nothing to optimise"
CONTACT = "to come: contact with a hull"

DIRECT, ADJOINT, CONTINUOUS = "direct", "discrete-adjoint", "continuous-adjoint"
HOW = {DIRECT: "direct", ADJOINT: "adjoint", CONTINUOUS: "continuous"}

#: Derivatives of psi1, psi2, psi3 by L_s1, L_s2, m_A1, r_G, L_A1 (tables 7.4 to 7.6), by ALI3-P with direct differentiation.
GRADIENTS = {
    "psi1": ("-4.228", "3.212", "0.3186", "0.4423", "3.359"),
    "psi2": ("-15.45", "50.32", "0.9700", "0.7454", "-27.37"),
    "psi3": ("221.7", "2437", "-32.51", "-85.70", "-2547"),
}


class Cost(NamedTuple):
    """A ratio of costs: natural by joint coordinates, or, with `beside`, one formulation by another in joint coordinates.

    `span` is how much motion is timed [s], where it is not that of the page.
    """

    name: str
    published: float
    model: str
    formulation: str
    body_point: str
    method: str = ""
    beside: str = ""
    variant: str = ""
    span: float | None = None


class Line(NamedTuple):
    """One table or figure.

    Attributes
    ----------
    number, about : str
    published : str
        Its numbers, or what it is.
    computed : str
        Name of the function of `kinegrad.bench.thesis` that computes what stands beside it; empty for none.
    of : what that function is asked for
    note : str
        Why there is nothing to compare with, or what is still to come, or what to know.
    """

    number: str
    about: str
    published: str
    computed: str = ""
    of: object = None
    note: str = ""


def costs(model: str, *rows: tuple, method: str = "") -> tuple[Cost, ...]:
    """Ratios nat/rel: (formulation, published with R0, published with R1) each."""
    found = []
    for formulation, *published in rows:
        for point, name, ratio in zip(("com", "origin"), ("R0", "R1"), published, strict=True):
            how = f" {HOW[method]}" if method else ""
            found.append(Cost(f"{formulation} {name}{how}", ratio, model, formulation, point, method))
    return tuple(found)


def _cost_line(number: str, about: str, of: tuple[Cost, ...], note: str = "") -> Line:
    published = ", ".join(f"{cost.name} {cost.published:g}" for cost in of)
    return Line(number, about, published, "ratios", of, note)


FIVE_BAR = costs("five_bar", ("ali3p", 1.255, 1.319), ("matrix-r", 1.331, 1.424))
FIVE_BAR_GRADIENT = (
    *costs("five_bar", ("ali3p", 0.761, 0.761), ("matrix-r", 0.634, 0.634), method=DIRECT),
    *costs("five_bar", ("ali3p", 1.041, 1.041), method=ADJOINT),
    *costs("five_bar", ("ali3p", 0.960, 0.960), ("matrix-r", 0.761, 0.761), method=CONTINUOUS),
)
SLIDER = costs("slider_crank", ("ali3p", 1.705, 1.705), ("matrix-r", 1.788, 1.788))
SLIDER_DIRECT = costs("slider_crank", ("ali3p", 1.464, 1.464), ("matrix-r", 0.954, 0.954), method=DIRECT)
SLIDER_ADJOINT = (
    *costs("slider_crank", ("ali3p", 1.699, 1.699), method=ADJOINT),
    *costs("slider_crank", ("ali3p", 1.599, 1.599), ("matrix-r", 1.115, 1.115), method=CONTINUOUS),
)
BICYCLE = (
    *costs("bicycle", ("ali3p", 3.901, 3.901), ("matrix-r", 2.971, 2.971)),
    Cost("recursive by ali3p R0", 0.620, "bicycle", "recursive", "com", beside="ali3p"),
    Cost("recursive by ali3p R1", 0.480, "bicycle", "recursive", "origin", beside="ali3p"),
)
SPRINGS = "on vertical springs in place of tyres, with made-up masses and geometry"


def _buggy(variant: str, ali3p: float, matrix_r: float) -> tuple[Cost, ...]:
    published = {"ali3p": ali3p, "matrix-r": matrix_r}
    return tuple(Cost(name, x, "buggy", name, "origin", variant=variant, span=0.5) for name, x in published.items())


ANCHOR = (
    *(
        Cost(f"ali3p {name}", x, "anchor_chain", "ali3p", point, span=0.02)
        for name, x, point in (("R0", 0.741, "com"), ("R1", 0.76, "origin"))
    ),
    Cost("recursive by ali3p", 0.237, "anchor_chain", "recursive", "origin", beside="ali3p", span=0.02),
)
CUTS = {"pivot": (7, 7), "ball": (4, 3), "universal": (6, 5), "rail": (7, 10)}

LINES = (
    Line("figure 7.2", "five-bar: motion of point 2", PICTURE, "five_bar_end", note="point 2 at 5 s [m], ALI3-P at 1 ms"),
    _cost_line("table 7.3", "five-bar: cost of the dynamics, nat/rel", FIVE_BAR),
    Line("figure 7.3", "five-bar: objectives, forward in time", PICTURE, "five_bar_objectives", note="at 5 s"),
    Line("figure 7.4", "five-bar: objectives, backward in time", PICTURE, note="ends at the values of figure 7.3"),
    *(
        Line(f"figure 7.{5 + k}", f"five-bar: gradient of psi{1 + k}, direct", PICTURE, note=f"ends at table 7.{4 + k}")
        for k in range(3)
    ),
    *(
        Line(f"figure 7.{8 + k}", f"five-bar: gradient of psi{1 + k}, adjoint", PICTURE, note=f"ends at table 7.{4 + k}")
        for k in range(3)
    ),
    *(
        Line(
            f"table 7.{4 + k}", f"five-bar: gradient of {name} by L_s1, L_s2, m_A1, r_G, L_A1", ", ".join(texts), "gradient",
            name,
            "rows of ALI3-P, direct, with the data as printed (variant `printed`) and 1 ms",
        )
        for k, (name, texts) in enumerate(GRADIENTS.items())
    ),
    _cost_line("table 7.7", "five-bar: cost of gradients, nat/rel", FIVE_BAR_GRADIENT),
    Line("figure 7.11", "slider-crank: drawing", "a drawing", note="examples/slider_crank"),
    Line(
        "table 7.8", "slider-crank: coordinates and rows by the joint that is cut",
        ", ".join(f"{name} {n}/{m}" for name, (n, m) in CUTS.items()), "cuts", CUTS,
        "a cut joint is closed by one row for each freedom it takes, where 6 and 9 are published for the revolute and the "
        "prismatic one; the angle of the pivot, which the model uses, stays a coordinate with a row of its own",
    ),
    Line("table 7.9", "slider-crank: spring (k, c, L0)", "10, 1, 0.25", "parameters", ("k", "c", "L0"), "data, taken over"),
    Line(
        "table 7.10", "slider-crank: tolerance, penalty, scale of projections", "1e-10, 1e+10, 0.0001", "settings",
        ("tolerance", "penalty", "projection_scale"), "data, taken over",
    ),
    Line(
        "figure 7.12", "slider-crank without spring, benchmark conditions", PICTURE, "benchmark_curve",
        note="variant `benchmark`: x of the slider's D at 1, 2, 3, 4, 5 s [m], converged; the curve is not tabulated",
    ),
    Line(
        "figure 7.13", "slider-crank with spring: motion", PICTURE, "spring_curve",
        note="x of D at 1, 2, 3, 4, 5 s [m], converged",
    ),
    _cost_line("table 7.11", "slider-crank: cost of the dynamics, nat/rel", SLIDER),
    Line("figure 7.14", "slider-crank: objectives", PICTURE, "slider_objectives", note="at 5 s, converged"),
    _cost_line("table 7.12", "slider-crank: cost of direct gradients, nat/rel", SLIDER_DIRECT),
    *(
        Line(
            f"figure 7.{15 + k}", f"slider-crank: gradient of psi{1 + k}, direct", PICTURE, "slider_gradient", f"psi{1 + k}",
            "by m_CD, k, c, L0 at 5 s, converged",
        )
        for k in range(3)
    ),
    *(
        Line(f"figure 7.{18 + k}", f"slider-crank: gradient of psi{1 + k}, adjoint", PICTURE, note=f"as figure 7.{15 + k}")
        for k in range(3)
    ),
    _cost_line("table 7.13", "slider-crank: cost of adjoint gradients, nat/rel", SLIDER_ADJOINT),
    Line("table 7.14", "buggy: springs", "front 16000, 10000, 0.710; rear 10595, 6000, 0.741", note=NO_DATA),
    Line("table 7.15", "buggy: tyres", "K 60430, D 100, R 0.30253, 0.8, 0.2, 0.7", note=TYRES),
    *(
        Line(f"figure 7.{k}", f"buggy: {about}", PICTURE, note=note)
        for k, about, note in (
            (21, "drawing", NO_DATA), (22, "graph of bodies and joints", NO_DATA), (23, "steering", TYRES),
            (24, "graphical interface", "nothing to compare"), (25, "step descent, motion of point 1", TYRES),
            (26, "double lane change, path and roll", TYRES), (27, "step descent, objective", TYRES),
            (28, "step descent, gradient, direct", TYRES), (29, "step descent, gradient, adjoint", TYRES),
            (30, "lane change, objective", TYRES), (31, "lane change, gradient, direct", TYRES),
            (32, "lane change, gradient, adjoint", TYRES), (33, "step descent, optimisation by iteration", OPTIMISATION),
            (34, "step descent, acceleration before and after", OPTIMISATION),
            (35, "centre of mass, optimisation by iteration", OPTIMISATION), (36, "roll rate before and after", OPTIMISATION),
        )
    ),
    _cost_line("table 7.16", "buggy, step descent: cost of the dynamics, nat/rel", _buggy("step", 2.41, 1.804), SPRINGS),
    _cost_line("table 7.17", "buggy, lane change: cost of the dynamics, nat/rel", _buggy("lane", 3.582, 1.83), SPRINGS),
    Line(
        "table 7.18", "buggy, step descent: cost of gradients, nat/rel",
        "ali3p 1.158, 1.213, 1.258; matrix-r 1.179, 1.243", note=TYRES,
    ),
    Line(
        "table 7.19", "the same, derivatives of M in every second step", "ali3p 1.297, 1.356, 1.397",
        note="an approximation that is not made here",
    ),
    Line(
        "table 7.20", "buggy, lane change: cost of gradients, nat/rel",
        "ali3p 1.788, 1.827; matrix-r 1.368, 1.404", note=TYRES,
    ),
    Line("table 7.21", "buggy, step descent: optima", "psi 1.4146 (80 iterations), 13.164, 1.4601, 1.4619", note=OPTIMISATION),
    Line("table 7.22", "buggy, lane change: optima", "psi 7.7677 (33 iterations), 1.8566, 7.7677, 1.2357", note=OPTIMISATION),
    Line("table 7.23", "buggy, centre of mass: optimum", "0.2493 m, psi 0.4227 (6 to 8 iterations)", note=OPTIMISATION),
    *(
        Line(f"figure 7.{k}", f"bicycle: {about}", PICTURE, note=note)
        for k, about, note in (
            (37, "drawing", "examples/bicycle"), (38, "splines of torques", "their ordinates are not published"),
            (39, "references of speed and roll", "not published as numbers"), (40, "graphical interface", "nothing to compare"),
            (41, "speed and roll", TYRES), (42, "gradient, fully recursive", TYRES),
            (43, "constraints, fully recursive", TYRES),
            (44, "sensitivities of constraints", TYRES), (45, "objective", TYRES), (46, "gradient, direct", TYRES),
            (47, "gradient, adjoint", TYRES), (48, "motion after optimisation", OPTIMISATION),
        )
    ),
    Line("table 7.24", "bicycle: tyres", "K 6000, D 100, 80, R 0.35, 0.30, 0.15, 0.15, 1", note=TYRES),
    _cost_line(
        "table 7.25", "bicycle: cost of the dynamics", BICYCLE,
        "on springs in place of tyres, so the work is less and nothing slides; of the published one only the bodies are known",
    ),
    Line("table 7.26", "bicycle: cost of gradients by 32 ordinates, nat/rel", "ali3p 5.116 direct, 3.183 adjoint", note=TYRES),
    Line(
        "table 7.27", "bicycle: gradients by 1000 ordinates, times those by 32", "ali3p 4.83 direct, 1.72 adjoint",
        note=TYRES,
    ),
    Line("table 7.28", "bicycle: optimal control", "psi 8.8012e-3 (3635 iterations), 8.8033e-3, 1.8586e-2", note=OPTIMISATION),
    Line("figure 7.49", "anchor: swivel", "a drawing", note=NO_DATA),
    Line("figure 7.50", "anchor: tip of the chain", "a drawing", note=NO_DATA),
    Line("figure 7.51", "anchor: two pictures of the motion", PICTURE, note=CONTACT),
    _cost_line(
        "table 7.29", "anchor: cost of the dynamics, nat/rel", ANCHOR,
        "without the hull, and with made-up masses",
    ),
)  # fmt: skip
