"""Studies: designs that are best, by gradients of whole simulations, on one computer or on many."""
