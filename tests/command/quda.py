"""The library of QUDA's names through ctypes: its structs as its own headers state them."""

import ctypes
import faulthandler
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from conftest import BUILD, ROOT

LIBRARY = BUILD / "quda/lib/libquda.so"
HEADERS = ROOT / "interface/quda/include"


def _read(name: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", (HEADERS / name).read_text(), flags=re.S)


CONSTANTS = {n: int(v) for n, v in re.findall(r"#define (QUDA_\w+) (\d+)\n", _read("quda_constants.h"))}


def _enums() -> dict[str, int]:
    values: dict[str, int] = {"QUDA_INVALID_ENUM": -(2**31)}
    for body in re.findall(r"enum \w+ {(.*?)}", _read("enum_quda.h"), flags=re.S):
        at = -1
        for entry in filter(None, (e.strip() for e in body.split(","))):
            name, _, value = (part.strip() for part in entry.partition("="))
            at = (values[value] if value in values else int(value, 0)) if value else at + 1
            values[name] = at
    return values


ENUMS = _enums()
KINDS = {"double": ctypes.c_double, "size_t": ctypes.c_size_t, "bool": ctypes.c_bool, "char": ctypes.c_char}
KINDS |= {"double_complex": ctypes.c_double * 2}


def struct(name: str) -> type[ctypes.Structure]:
    """A struct of quda_params.h."""
    body = re.search(rf"typedef struct {name}_s {{(.*?)}} {name};", _read("quda_params.h"), flags=re.S)
    assert body
    fields = []
    for row in filter(None, (r.strip() for r in body[1].split(";"))):
        kind, members = row.split(None, 1)
        for member in members.split(","):
            pointer, called, sizes = re.fullmatch(r"\s*(\**)\s*(\w+)((?:\[\w+\])*)\s*", member).groups()  # type: ignore
            of = ctypes.c_void_p if pointer else KINDS.get(kind, ctypes.c_int)
            for size in reversed(re.findall(r"\[(\w+)\]", sizes)):
                of = of * (CONSTANTS[size] if size in CONSTANTS else int(size))
            fields.append((called, of))
    return type(name, (ctypes.Structure,), {"_fields_": fields})


GaugeParam, InvertParam = struct("QudaGaugeParam"), struct("QudaInvertParam")
ObservableParam, MultigridParam = struct("QudaGaugeObservableParam"), struct("QudaMultigridParam")


class Quda:
    """Its functions; members of structs are set by name, enums by theirs."""

    def __init__(self) -> None:
        self.functions = ctypes.CDLL(str(LIBRARY))
        self.functions.newQudaGaugeParam.restype = GaugeParam
        self.functions.newQudaInvertParam.restype = InvertParam
        self.functions.newQudaGaugeObservableParam.restype = ObservableParam

    def gauge_param(self, **members: Any) -> Any:
        return fill(self.functions.newQudaGaugeParam(), members)

    def invert_param(self, **members: Any) -> Any:
        return fill(self.functions.newQudaInvertParam(), members)

    def observable_param(self, **members: Any) -> Any:
        return fill(self.functions.newQudaGaugeObservableParam(), members)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(self.functions, name)  # type: ignore[no-any-return]


def fill(param: Any, members: dict[str, Any]) -> Any:
    for name, value in members.items():
        if isinstance(value, list | tuple):
            for n, one in enumerate(value):
                if isinstance(one, complex):
                    getattr(param, name)[n][:] = one.real, one.imag
                else:
                    getattr(param, name)[n] = one
        else:
            setattr(param, name, ENUMS[value] if isinstance(value, str) else value)
    return param


def pointers(arrays: Any) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


def apart(work: Callable[[int], np.ndarray], count: int) -> list[np.ndarray | str]:
    """Results of work(0), work(1), ... of a child, or the line with which the library ended it; another one goes on.

    This process itself must not have begun threads.
    """
    results: list[np.ndarray | str] = []
    with tempfile.TemporaryDirectory() as folder:
        while len(results) < count:
            first, said = len(results), Path(folder, "said")
            if (child := os.fork()) == 0:
                faulthandler.disable()
                os.dup2(os.open(said, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
                os.dup2(2, 1)
                try:
                    for n in range(first, count):
                        np.save(Path(folder, f"part{n}"), work(n))
                        Path(folder, f"part{n}.npy").rename(Path(folder, f"{n}.npy"))
                    os._exit(0)
                except BaseException as error:  # noqa: BLE001
                    print("wrong:", repr(error), file=sys.stderr, flush=True)
                    os._exit(1)
            status = os.waitpid(child, 0)[1]
            while len(results) < count and (done := Path(folder, f"{len(results)}.npy")).exists():
                results.append(np.load(done))
                done.unlink()
            if len(results) < count:
                text = said.read_text()
                assert os.WIFSIGNALED(status), text
                results.append(next((row for row in text.splitlines() if row.startswith("ERROR")), text))
    return results
