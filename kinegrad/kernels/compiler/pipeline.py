"""Numba's compiler, set up for kernels: small code, once for each combination of types, compiled without detours.

Machine code is made of whole C functions only; a kernel inside them is kept as optimised LLVM code, to be linked into its
callers.  Compared with Numba's defaults the first use of a feature compiles in half the time, and the code is as fast.
"""

from __future__ import annotations

import contextlib
import gc
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, SimpleNamespace

from numba import types
from numba.core.compiler import CompilerBase, Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.datamodel.models import OpaqueModel
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import (
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing.templates import make_intrinsic_template
from numba.core.untyped_passes import FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA, TranslateByteCode
from numba.extending import register_model

from kinegrad.kernels import checks
from kinegrad.kernels.compiler.bounds import check_rows
from kinegrad.kernels.compiler.definitions import definition_of
from kinegrad.kernels.compiler.lean import attribute, implementation
from kinegrad.kernels.compiler.objects import Codegen
from kinegrad.kernels.compiler.words import numba_type
from kinegrad.kernels.compiler.wrapper import add_wrapper

NOTICE = "compiling {}, once per machine (about 10 s) ..."
KEEPS = True

# Without the runtime there is no reference counting, and an allocation in a kernel is an error when it compiles.
_OPTIONS = {
    "nopython": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "boundscheck": checks.ON,
}


@contextlib.contextmanager
def without_collector():
    """The garbage collector rests inside the block: it would look, for a tenth of the time, at what the compiler still uses."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- where kernels are compiled: types and code -------------------------------------------------------------------


class _Code:
    """Stands for a compiled kernel where Numba expects something it could call."""


class _Typing:
    """Numba's typing context that remembers what operators give for which types: it would ask a dozen templates each time."""

    def __init__(self, context):
        self.context = context
        self._operators: dict = {}
        self._results: dict = {}

    def __getattr__(self, name):
        found = getattr(type(self.context), name, None)
        return found.__get__(self) if isinstance(found, FunctionType) else getattr(self.context, name)

    def resolve_value_type(self, value):
        if not isinstance(value, BuiltinFunctionType):
            return self.context.resolve_value_type(value)
        if value not in self._operators:
            self._operators[value] = _Operator(self.context.resolve_value_type(value))
        return self._operators[value]

    def resolve_function_type(self, function, arguments, keywords):
        typed = all(isinstance(argument, types.Type) for argument in arguments)
        if keywords or not typed or not isinstance(function, str | BuiltinFunctionType):
            return self.context.resolve_function_type(function, arguments, keywords)
        key = function, tuple(arguments)
        if key not in self._results:
            self._results[key] = self.context.resolve_function_type(function, arguments, keywords)
        return self._results[key]


class _Operator(types.Function):
    """Numba's type of an operator, or of a function like `max`, that remembers its results."""

    def __init__(self, function):
        vars(self).update(vars(function))
        self._known: dict = {}

    def get_call_type(self, context, args, kws):
        if kws:
            return super().get_call_type(context, args, kws)
        key = tuple(args)
        if key not in self._known:
            self._known[key] = super().get_call_type(context, args, kws)
        return self._known[key]


register_model(_Operator)(OpaqueModel)


class _Context(CPUContext):
    """Numba's context of this machine, which knows what all compiled functions mean, with our way to make code."""

    def __init__(self, parent):
        vars(self).update(vars(parent))
        self._internal_codegen = Codegen("kinegrad")
        self.cached_internal_func = {}
        self.typing_context = _TYPING

    def load_additional_registries(self):
        """Numba asks before each function; all were loaded for the parent."""

    def get_function(self, function, signature, **options):
        lower = implementation(function, signature)
        if lower is None:
            return self._with_checks(super().get_function(function, signature, **options), function, signature)
        return lambda builder, args, loc=None: lower(self, builder, signature, args)

    def _with_checks(self, found, function, signature):
        lower = check_rows(found, function, signature)
        return found if lower is found else lambda builder, args, loc=None: lower(self, builder, args)

    def get_getattr(self, kind, name):
        return attribute(kind, name) or super().get_getattr(kind, name)

    def pair_first(self, builder, value, kind):
        return builder.extract_value(value, 0)

    def pair_second(self, builder, value, kind):
        return builder.extract_value(value, 1)

    def get_executable(self, library, fndesc, env):
        library._ensure_finalized()
        return _Code()


class _Target(CPUTarget):
    @cached_property
    def _toplevel_target_context(self):
        cpu_target.target_context.refresh()
        return _Context(cpu_target.target_context)

    @cached_property
    def _toplevel_typing_context(self):
        return _TYPING


_TYPING = _Typing(cpu_target.typing_context)
_TARGET = _Target("cpu")


# --- from Python to LLVM code ------------------------------------------------------------------------------------


class _Lower(Lower):
    """Lowering that asks for small code: unrolled loops compile longer and, up to dozens of coordinates, run no faster."""

    def lower_normal_function(self, fndesc):
        super().lower_normal_function(fndesc)
        self.function.attributes.add("optsize")

    def alloca_lltype(self, name, lltype, datamodel=None):
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)


class _CheckedLower(_Lower):
    """Lowering that tells checks where they are."""

    def lower_inst(self, inst):
        self.context.line = inst.loc.line
        super().lower_inst(inst)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "kinegrad_lowering"
    lowering_class = _CheckedLower if checks.ON else _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class _SingleAssignments(ReconstructSSA):
    """Numba's pass without what it prepares for generators."""

    _name = "kinegrad_single_assignments"

    def run_pass(self, state):
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _StripPhis(PreLowerStripPhis):
    """Numba's pass without what it prepares for generators."""

    _name = "kinegrad_strip_phis"

    def run_pass(self, state):
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


_PASSES = (
    TranslateByteCode, FixupArgs, IRProcessing, GenericRewrites, _SingleAssignments,
    NopythonTypeInference, _StripPhis, AnnotateTypes, _Lowering, NoPythonBackend,
)  # fmt: skip


class Compiler(CompilerBase):
    """Numba's compiler without the passes that kernels do not need (closures, array expressions, threads, literals)."""

    def define_pipelines(self):
        passes = PassManager("kernel")
        for step in _PASSES:
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class Dispatcher(CPUDispatcher):
    """Compiles a kernel once for each combination of types: Numba's own also does so for each constant it is called with."""

    targetdescr = _TARGET

    def compile(self, signature):
        arguments, _ = normalize_signature(signature)
        return super().compile(tuple(map(types.unliteral, arguments)))

    def add_overload(self, result):
        self.overloads[tuple(result.signature.args)] = result


def dispatcher(function, inline: bool) -> Dispatcher:
    """A kernel, compiled when a caller is."""
    return Dispatcher(py_func=function, targetoptions={**_OPTIONS, "forceinline": inline}, pipeline_class=Compiler)


def operation(name: str, parameters):
    """An operation of kernels."""
    definition = definition_of(name, parameters)
    return SimpleNamespace(_numba_type_=types.Function(make_intrinsic_template(definition, definition, name)))


@global_compiler_lock
def object_code(function, kinds, symbol: str) -> tuple[bytes, str]:
    """Object code with the C function `symbol` around a compiled `function`, and the types of what it returns."""
    arguments = (types.int64,) if kinds is None else tuple(map(numba_type, kinds))
    flags = Flags()
    _TARGET.options.parse_as_flags(flags, _OPTIONS)
    flags.no_compile = True
    with without_collector():
        result = compile_extra(
            _TARGET.typing_context,
            _TARGET.target_context,
            function,
            arguments,
            None,
            flags,
            {},
            pipeline_class=Compiler,
        )
        returns = add_wrapper(result.target_context, result.library, result.fndesc, kinds is not None, symbol)
        return result.library.object_code(symbol), returns
