"""Kernels that are compiled once: their callers hold an address instead of a copy of their code.

Numba links the code of a kernel into each of its callers and optimises it there again, so that a large one that four
loops use is optimised four times and more, along every way that leads to it. A sealed kernel is known to its callers by
a symbol, which is an address that the process looks up when it loads them. What a call loses is that the optimiser no
longer sees across it, and some nanoseconds: nothing where a kernel is large and called some times a step, much where it
is small and called for every contact.

The symbol is made of the kernel's source and types, hence the same in every process. A caller on disk remembers which
sealed kernels it needs; they are loaded before it, or compiled where they are not on disk. One that has changed since
has another symbol: then the caller is compiled again.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

from .cache import KernelCache, described, kernel_name

_kernels: dict[tuple[str, str], Any] = {}  # sealed ones by module and name
_loaded: dict[str, Any] = {}  # the libraries behind the symbols, which callers need as long as they live


def prepare(kernel: Any, sealed: bool) -> None:
    """Let a kernel be kept on disk, and seal it if that is asked."""
    kernel.__class__ = _Sealed if sealed else _Kernel
    kernel._cache = KernelCache(kernel.py_func, _reduce_sealed if sealed else _reduce)
    if sealed:
        _kernels[kernel_name(kernel)] = kernel


def _reduce(cres: Any) -> Any:
    """What is written to disk of a kernel."""
    return cres._reduce()


def _reduce_sealed(cres: Any) -> Any:
    """The same without what a caller would link, but for the symbols: it loads twice as fast."""
    (name, kind, (machine_code, _)), *others = cres._reduce()
    symbols = cres.fndesc.mangled_name, cres.fndesc.llvm_cpython_wrapper_name
    empty = llvm.parse_assembly("".join(f'define void @"{symbol}"() {{ ret void }}\n' for symbol in symbols))
    return (name, kind, (machine_code, empty.as_bitcode())), *others


class _Kernel(CPUDispatcher):
    """A kernel that is not compiled anew for each integer that a caller writes out, unless it must know which it is."""

    _cache: Any

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The types of a call from another kernel."""
        plain = [unliteral(kind) for kind in args], {name: unliteral(kind) for name, kind in kws.items()}
        try:
            return super().get_call_template(*plain)
        except TypingError:
            return super().get_call_template(args, kws)


class _Sealed(_Kernel):
    """A kernel whose callers know no more of it than a symbol."""

    def add_overload(self, cres: Any) -> None:
        """Take in what was compiled or loaded, and give it to callers by its symbol."""
        super().add_overload(cres)
        what = self._cache.key(cres.signature.args, cres.codegen), described(cres.signature.return_type)
        symbol = "sealed." + hashlib.sha256(repr(what).encode()).hexdigest()
        llvm.add_symbol(symbol, cres.library.get_pointer_to_function(cres.fndesc.mangled_name))
        _loaded[symbol] = cres.library
        outside = copy.copy(cres.fndesc)
        outside.mangled_name = symbol
        need = _Need(symbol, kernel_name(self), cres.signature.args)
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, outside, [_Nothing(need)])


@dataclass(frozen=True)
class _Need:
    """What a caller on disk remembers of a sealed kernel: called, it makes sure that the symbol is known."""

    symbol: str
    name: tuple[str, str]
    args: tuple[Any, ...]

    def __call__(self) -> None:
        if self.symbol not in _loaded:
            _kernels[self.name].compile(self.args)
        if self.symbol not in _loaded:
            raise LookupError(f"{'.'.join(self.name)} has changed")


class _Nothing:
    """Takes the place of the library that Numba would link into a caller, and leaves there what the caller needs."""

    def __init__(self, need: _Need):
        self._reload_init = {need}

    def _ensure_finalized(self) -> None:
        """There is nothing to finish."""

    def _get_module_for_linking(self) -> Any:
        return llvm.parse_assembly("")
