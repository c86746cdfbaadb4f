"""Benchmarks: kinegrad beside other programs, in one process and in turn."""
