"""Arithmetic without warnings: numbers beyond the range of doubles are looked for where they matter, and told in sentences."""

from __future__ import annotations

import numpy as np

#: Decorates what users call; NumPy would warn with places inside kinegrad.
without_warnings = np.errstate(all="ignore")
