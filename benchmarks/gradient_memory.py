"""What an adjoint adds to the memory of a long run of which few states were kept: 200,000 steps of a chain of 64 links."""

import argparse
import resource
import time

import kinegrad as kg
from kinegrad.bench.chain import chain_model


def peak() -> float:
    """Most memory that this process has had so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--memory", type=float, help="limit of the states [MB]")
    options = parser.parse_args()
    model = chain_model(options.links).copy()
    model.parameters["g"] = 9.81
    model.forces["gravity"] = {"type": "gravity", "acceleration": [0, 0, "-g"]}
    model.objectives["end"] = {"integral": f"norm2(b{options.links - 1}.q.velocity)"}
    system = kg.joint(model.check())

    def done(steps):
        h = 1e-5
        motion = kg.simulate(system, "recursive", "rk4", t_end=steps * h, step=h, output_step=max(1, steps // 100) * h)
        before, clock = peak(), time.thread_time()
        gradient = kg.gradient(motion, wrt=["g"], method="discrete-adjoint", memory=options.memory)
        return motion, gradient, peak() - before, time.thread_time() - clock

    done(100)  # everything is loaded
    motion, gradient, added, seconds = done(options.steps)
    whole = 8e-6 * (options.steps + 1) * motion.scheme.row_size
    print(f"{options.links} links, {options.steps} steps: all states would take {whole:.0f} MB")
    print(f"the adjoint added {added:.1f} MB, did the run {gradient.runs:.3g} times again and took {seconds:.0f} s")


if __name__ == "__main__":
    main()
