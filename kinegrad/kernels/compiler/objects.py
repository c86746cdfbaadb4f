"""From the LLVM code of kernels to the object code of whole C functions."""

from __future__ import annotations

from llvmlite import binding
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen

from kinegrad.kernels import checks


class Library(CPUCodeLibrary):
    """LLVM code of one function, kept as it is to be linked into whole C functions."""

    def _optimize_functions(self, module):
        module.data_layout = self._codegen._data_layout

    def finalize(self):
        self._finalized = True

    def needed(self, found=None) -> list:
        """All libraries with functions that this one calls, directly or not."""
        found = [] if found is None else found
        for library in self._linking_libraries:
            if library not in found:
                found.append(library)
                if isinstance(library, Library):
                    library.needed(found)
        return found

    def object_code(self, symbol: str) -> bytes:
        """Machine code of the C function `symbol`; all that it calls may be inlined and left out."""
        module = self._final_module
        for library in self.needed():
            module.link_in(library._get_module_for_linking(), preserve=True)
        for function in module.functions:
            if not function.is_declaration and function.name != symbol:
                function.linkage = binding.Linkage.internal
        options = binding.create_pipeline_tuning_options(speed_level=1 if checks.ON else 3)
        options.loop_vectorization, options.slp_vectorization = False, True
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(module, builder)
        module.verify()
        for function in module.functions:
            if function.is_declaration and function.name.startswith(("NRT_", "numba_", "Py", "_ZN")):
                raise RuntimeError(f"compiled code asks for {function.name}, which only a process with Numba has")
        return self._codegen._tm.emit_object(module)


class Codegen(JITCPUCodegen):
    """Numba's code generator, which hands nothing to an execution engine."""

    _library_class = Library

    def _add_module(self, module):
        pass
