"""Questions that take many simulations of one model to answer."""
