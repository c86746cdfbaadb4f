"""Every compiled function: arrays in, arrays out.  `jit` holds the decorators and their cache."""
