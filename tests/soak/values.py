"""Numbers of a model, written as they are or as expressions in parameters that have the same value."""

from soak import jets


class Numbers:
    """Writes numbers, and collects the parameters they use."""

    def __init__(self, rng):
        self.rng = rng
        self.parameters = {f"q{k}": float(rng.uniform(0.5, 2.0)) for k in range(3)}
        self.parameters["q3"] = "q0*q1 + sin(q2)"
        self.values = dict(self.parameters)
        self.values["q3"] = jets.number("q0*q1 + sin(q2)", self.values)

    def write(self, x, fixed=False):
        """x, or an expression whose value is x."""
        x = float(x)
        if fixed or self.rng.random() > 0.25:
            return x
        name = f"q{self.rng.integers(4)}"
        q = self.values[name]
        kind = self.rng.integers(4)
        if kind == 0:
            own = f"p{len(self.parameters)}"
            self.parameters[own] = self.values[own] = x
            return own
        if kind == 1:
            return f"{x / q!r}*{name}"
        if kind == 2:
            return f"{0.3 * x!r}*{name} + {x - 0.3 * x * q!r}"
        value = jets.number(f"cos({name})**2", self.values)
        return f"{x - 0.5 * x * value!r} + {0.5 * x!r}*cos({name})**2"

    def list_of(self, values):
        """The name of a new parameter that is a list."""
        name = f"u{len(self.parameters)}"
        self.parameters[name] = [float(x) for x in values]
        return name

    def plain(self, x, parameters):
        """Numbers, or lists of them, without expressions."""
        if isinstance(x, list):
            return [self.plain(entry, parameters) for entry in x]
        return jets.number(x, parameters)
