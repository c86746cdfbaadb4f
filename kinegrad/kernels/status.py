"""The integer codes a kernel returns where Python would raise, and what they mean in words."""

OK = 0
SINGULAR = 1
NOT_FINITE = 2
NOT_CONVERGED = 3
ZERO_LENGTH = 4
STEP_TOO_SMALL = 5
TOO_MANY_STEPS = 6
INCONSISTENT = 7
OUT_OF_RANGE = 8
CALLBACK_FAILED = 9
LOST_RANK = 10
INTERRUPTED = 11

WORDS = {
    OK: "it succeeded",
    SINGULAR: "a matrix is singular",
    NOT_FINITE: "a number is infinite or not a number",
    NOT_CONVERGED: "the iterations did not converge",
    ZERO_LENGTH: "a length that divides is zero",
    STEP_TOO_SMALL: "the time step became too small",
    TOO_MANY_STEPS: "the number of steps allowed was used up",
    INCONSISTENT: "the equations contradict each other",
    OUT_OF_RANGE: "an argument is outside its range",
    CALLBACK_FAILED: "a Python function called from the loop raised an error",
    LOST_RANK: "the constraints no longer determine the motion",
    INTERRUPTED: "it was stopped from the keyboard",
}
