"""How well measured signals determine parameters: covariance, confidence, and what cannot be told apart (OPT-12)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

LEVEL = 0.95
RANK = 1e-10  # singular values, of the largest, below which a combination of parameters is not determined


@dataclass(frozen=True)
class Estimates:
    """Parameters found from data, with their uncertainty.

    Attributes
    ----------
    labels : list of str
        Variables that no bound holds; the others are not estimated.
    values, deviations, low, high : lists
        Estimates, their standard deviations, and the ends of intervals that hold the true value with probability `level`; None
        for parameters that the data do not determine.
    covariance : list of lists
        Of the labels; empty where some are not determined.
    undetermined : list of str
        Parameters that belong to a combination without influence on the signals: each of them may have any value.
    count, freedom : int
        Data, and data less labels.
    rms : float
        Root of the mean of the squared residuals; near 1 where sigma is given and the model is right.
    known : bool
        Whether deviations of the data were given; else the residuals estimate a common one.
    """

    labels: list[str]
    values: list[float]
    deviations: list[float | None]
    low: list[float | None]
    high: list[float | None]
    covariance: list[list[float]]
    undetermined: list[str]
    count: int
    freedom: int
    rms: float
    known: bool
    level: float = LEVEL

    def plain(self) -> dict:
        """All of it as a dict of plain numbers and texts."""
        return asdict(self)

    @property
    def correlation(self) -> np.ndarray:
        """(p, p) the covariance over both deviations."""
        C = np.array(self.covariance)
        d = np.sqrt(np.diag(C))
        return C / np.outer(d, d)


def estimates(labels, values, held, residuals: np.ndarray, jacobian: np.ndarray, known: bool) -> Estimates:
    """The estimates where residuals are least.

    Parameters
    ----------
    held : (n,) array of bool
        Variables at a bound.
    residuals, jacobian : (r,) and (r, n) arrays
        In units of the parameters.
    """
    from scipy.stats import norm, t

    free = np.flatnonzero(~np.asarray(held))
    J, r = jacobian[:, free], residuals
    names = [labels[k] for k in free]
    best = [float(values[k]) for k in free]
    freedom = len(r) - len(free)
    rms = float(np.sqrt(r @ r / len(r)))
    sizes = np.linalg.norm(J, axis=0)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    _, sigma, V = np.linalg.svd(J / sizes, full_matrices=True)
    sigma = np.append(sigma, np.zeros(len(free) - len(sigma)))
    weak = sigma <= RANK * sigma.max(initial=0.0)
    turned = RANK * sigma.max(initial=0.0) / sigma[~weak].min(initial=np.inf)  # of vectors, by what counts as zero
    loose = np.flatnonzero(np.linalg.norm(V[weak], axis=0) > turned)
    none = [None] * len(free)
    if weak.any() or (freedom <= 0 and not known):
        undetermined = [names[k] for k in loose] or names
        return Estimates(names, best, none, none, none, [], undetermined, len(r), freedom, rms, known)
    factor = 1.0 if known else float(r @ r / freedom)
    root = (V.T / sigma) / sizes[:, None]
    C = factor * root @ root.T
    d = np.sqrt(np.diag(C))
    half = (norm.ppf(0.5 + LEVEL / 2) if known else t.ppf(0.5 + LEVEL / 2, freedom)) * d
    low, high = (np.array(best) - half).tolist(), (np.array(best) + half).tolist()
    return Estimates(names, best, d.tolist(), low, high, C.tolist(), [], len(r), freedom, rms, known)
