"""Functions of users as laws: a Python function or a compiled one, called by its address (LAW-7).

The values y of a function, and their partials by its arguments x, are registers of the tapes of the element, after the
slots; tape 3 gives x.  So a tape that wants derivatives has the chain rule in it, and nothing here knows what y is for.
"""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import CALLS, Kind, run_stage
from kinegrad.kernels.jit import JIT, cfunction, intrinsic, kernel
from kinegrad.kernels.tape import run_tape_at

callback_, call_x_, call_y_, code_, const_, job_, outs_, reg_, s_ = ELEMENTS.viewers(
    *"callback call_x call_y code const job outs reg s".split()
)

KIND = Kind({"callback": ()})

# What is wanted of a function: values; partials too, for a Newton matrix; partials too, for a derivative of the run; those
# up to the second, up to the third order.
VALUES, ABOUT, EXACTLY, SECOND, THIRD = range(5)

# job: what a call is about: the fields of the law, the first register it fills, and what is wanted
FN, NA, NC, CODE, CODE_END, CONST, CONST_END, OUT, FIRST, EXACT = range(10)
N_JOB = 10

if JIT:
    _call = intrinsic("call_law")

    @kernel
    def invoke(ctx, number, exact):
        """y, and with `exact` its partials, from x by the function of that number."""
        _call(callback_(ctx)[number], call_x_(ctx), exact, call_y_(ctx))

else:

    def invoke(ctx, number, exact):
        """y, and with `exact` its partials, from x by the function of that number."""
        ctx.calls.run(number, exact)


@KIND.at(CALLS)
@cfunction(what="the simulation kernels")
def call_law(ctx):
    """The registers of a function: y and, if wanted, its partials by rows."""
    job, reg, const, outs, x, y = job_(ctx), reg_(ctx), const_(ctx), outs_(ctx), call_x_(ctx), call_y_(ctx)
    k = job[FIRST]
    for i in range(job[CONST], job[CONST_END]):
        reg[k + i - job[CONST]] = const[i]
    run_tape_at(code_(ctx), job[CODE], job[CODE_END] - job[CODE], reg, 0, s_(ctx))
    for i in range(job[NA]):
        x[i] = reg[outs[job[OUT] + i]]
    invoke(ctx, job[FN], job[EXACT])
    n = job[NC] * (1 + job[NA]) if job[EXACT] else job[NC]
    if job[EXACT] >= SECOND:
        n += job[NA] * job[NA]
    if job[EXACT] >= THIRD:
        n += job[NA] * job[NA] * job[NA]
    for i in range(n):
        reg[k + i] = y[i]


@kernel
def external(ctx, law, k, exact):
    """Fill the registers from k on with what the function of an element gives, if it has one; the place after them."""
    if law["fn"] < 0:
        return k
    job = job_(ctx)
    job[FN] = law["fn"]
    job[NA] = law["na"]
    job[NC] = law["nc"]
    job[CODE] = law["c3"]
    job[CODE_END] = law["e3"]
    job[CONST] = law["q3"]
    job[CONST_END] = law["r3"]
    job[OUT] = law["o3"]
    job[FIRST] = k
    job[EXACT] = exact
    run_stage(ctx, CALLS)
    return k + law["nr"]
