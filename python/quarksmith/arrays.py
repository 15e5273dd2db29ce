"""Arrays of other libraries that calls read and write: of the host, and of a GPU, whose numbers stay there."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from . import _quarksmith
from ._quarksmith import UsageError

INTERFACE = re.compile(r"__(\w+)_array_interface__")
"""The attribute by which arrays in memory of a GPU describe themselves; the library of the GPU is in its name."""
WORDS = {"<c16": 16, "<c8": 8}
ON_HOST = (1, 3)
"""Kinds of memory in DLPack that the host reaches: its own, and what is pinned for a GPU."""


class Array(Protocol):
    """An array of any library."""

    @property
    def shape(self) -> Any:
        """Extents of its axes."""


class DeviceArray(NamedTuple):
    """An array of complex numbers in memory of a GPU."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Bytes."""
    word: int
    """Bytes of a number."""
    stream: int
    """In whose order its library uses it."""


def on_device(value: Any, name: str, written: bool = False) -> DeviceArray | None:
    """What an array says of itself; None: it is none in memory of a GPU.

    Raises:
        UsageError: it holds no complex numbers, has a mask, or places that are no multiples of a number apart; or it is
            to be written and is read-only, or has several numbers at one place.
    """
    kind = next((m[1] for m in map(INTERFACE.fullmatch, dir(type(value))) if m), "")
    interface = getattr(value, f"__{kind}_array_interface__", None) if kind else None
    if interface is not None:
        (address, fixed), shape = interface["data"], tuple(interface["shape"])
        word = WORDS.get(interface["typestr"], 0)
        strides = interface.get("strides") or _contiguous(shape, word)
        if interface.get("mask") is not None:
            raise UsageError(f"{name} is a masked array; give all its numbers")
    elif getattr(value, "__dlpack_device__", lambda: ON_HOST)()[0] not in ON_HOST:
        address, shape, strides, word, fixed = *_quarksmith.dlpack_layout(value), False
    else:
        return None
    if not word:
        raise UsageError(f"{name} holds no complex numbers; give an array of complex128 or complex64")
    if callable(is_conjugate := getattr(value, "is_conj", None)) and is_conjugate():
        raise UsageError(f"{name} is conjugated when it is read; give {name}.resolve_conj()")
    if address % (word // 2) or any(s % word for s, n in zip(strides, shape, strict=True) if n > 1):
        raise UsageError(f"{name} has strides {strides}, no multiples of the {word} bytes of a number; give a copy")
    if written and fixed:
        raise UsageError(f"{name} is read-only; give an array that can be written")
    if written and _overlaps(shape, strides, word):
        raise UsageError(f"{name} has several numbers at one place: strides {strides}; give an array of its own")
    return DeviceArray(address, shape, tuple(strides), word, _stream_of(value, kind, interface or {}))


def _contiguous(shape: tuple[int, ...], word: int) -> tuple[int, ...]:
    strides = [word]
    for extent in shape[:0:-1]:
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides))[: len(shape)]


def _overlaps(shape: tuple[int, ...], strides: tuple[int, ...], word: int) -> bool:
    """Whether an axis takes a step that is shorter than what those of shorter steps span."""
    span = word
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride < span:
            return True
        span += stride * (extent - 1)
    return False


def _stream_of(value: Any, kind: str, interface: dict[str, Any]) -> int:
    """The stream that the interface names, the present one of PyTorch, or the default stream."""
    if interface.get("stream") is not None:
        return int(interface["stream"])
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return 0
    kind = kind or value.device.type
    return int(getattr(getattr(torch, kind).current_stream(value.device), f"{kind}_stream"))


def require_writable(out: Any, shape: tuple[int, ...]) -> Any:
    """An array of the host as NumPy has it, in the same memory.

    Raises:
        UsageError: it is no array, read-only, of another shape, or of other numbers than complex ones.
    """
    import numpy as np

    if hasattr(out, "filled") or not (hasattr(out, "__array__") or hasattr(out, "__dlpack__")):
        raise UsageError(f"out is {type(out).__name__}; give an array of complex numbers")
    array = np.asarray(out) if hasattr(out, "__array__") else np.from_dlpack(out)
    if array.dtype.kind != "c" or not array.flags.writeable:
        what = "read-only" if array.dtype.kind == "c" else f"an array of {array.dtype}"
        raise UsageError(f"out is {what}; give an array of complex numbers that can be written")
    if array.shape != shape:
        raise UsageError(f"out has shape {array.shape}, the field {shape} in lexicographic order; reshape it")
    return array


def use_pool(
    pool: str | Callable[[int, int], Any],
    release: Callable[[int, int], object] | None = None,
    device: str = "auto",
) -> None:
    """Takes memory of a GPU from a pool of another library from now on; to be called before anything is made there.

    Args:
        pool: `cupy` or `torch`, whose allocators are used, or a function of bytes and of the stream in whose order the
            memory is used. It returns an address, or an object that has it as `ptr` and keeps the memory; 0, None or
            MemoryError: there is no more.
        release: takes address and stream; by default the object that the pool returned is dropped.
        device: whose memory it is.

    Raises:
        UsageError: it is no GPU, or some of its memory is in use.
        OutOfMemory: of later calls, where the pool has no more.
    """
    if pool == "cupy":
        pool, release = _pool_of_cupy(*_quarksmith.device_name(device).split(":")), None
    elif pool == "torch":
        pool, release = _pool_of_torch(*_quarksmith.device_name(device).split(":"))
    elif not callable(pool):
        raise UsageError(f"use_pool: {pool!r} is no pool; give 'cupy', 'torch' or a function of bytes and stream")
    _quarksmith.use_pool(pool, release, device)


def _pool_of_cupy(kind: str, number: str = "0") -> Callable[[int, int], Any]:
    calls = getattr(import_module("cupy"), kind)

    def allocate(size: int, stream: int) -> Any:
        with calls.Device(int(number)), calls.ExternalStream(stream):
            return calls.alloc(size)

    return allocate


def _pool_of_torch(kind: str, number: str = "0") -> tuple[Callable[[int, int], Any], Callable[[int, int], object]]:
    torch = import_module("torch")
    calls = getattr(torch, kind)
    calls.init()

    def allocate(size: int, stream: int) -> Any:
        try:
            return calls.caching_allocator_alloc(size, int(number), stream)
        except torch.OutOfMemoryError as error:
            raise MemoryError(str(error)) from None

    return allocate, lambda address, _: calls.caching_allocator_delete(address)
