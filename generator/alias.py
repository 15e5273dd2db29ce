"""Files of users import `generator`; inside of the Python package, where it has another name, that is this one too."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType

NAME = "generator"
OWN = __name__.rpartition(".")[0]
"""`generator`, or `quarksmith.generator`."""


def _is_called(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}.")


class _Alias(MetaPathFinder, Loader):
    """Finds modules of this package under the other name: the same objects, of the same classes."""

    def __init__(self) -> None:
        self.specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if _is_called(fullname, NAME) else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(OWN + spec.name.removeprefix(NAME))
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = self.specs[module.__spec__.name]  # which importing has replaced


@contextlib.contextmanager
def called_generator() -> Iterator[None]:
    """While it lasts, `import generator` gives this package."""
    if OWN == NAME:
        yield
        return
    others = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_called(name, NAME)}
    alias = _Alias()
    sys.meta_path.insert(0, alias)
    try:
        yield
    finally:
        sys.meta_path.remove(alias)
        for name in [name for name in sys.modules if _is_called(name, NAME)]:
            del sys.modules[name]
        sys.modules.update(others)
