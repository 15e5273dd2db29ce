"""Actions that stand in no file of the project, as a library that programs of a build load."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from ..folders import ROOT
from ..operators import RECORDS
from .action_table import action_row
from .build import Build
from .ondemand import check_module, open_cache, record_module, run_compiler
from .render import render


def compile_action(name: str, called: str, build: Build) -> Path:
    """The library of an action under the name by which it is called, from the cache of a build or compiled now.

    Raises:
        CompileError: the compiler failed, or the cache is not safe.
    """
    data = {"actions": [action_row(RECORDS[name], called)], "smearings": [], "refused": [], "module": True}
    text = render("actions.cpp.j2", f"the action {called}", **data)
    digest = hashlib.sha256(text.encode())
    for header in ("runtime/action_info.hpp", "runtime/kernels/arguments.hpp"):
        digest.update((ROOT / header).read_bytes())
    digest.update(repr(build.host).encode())
    library = build.cache / f"{name}-{digest.hexdigest()[:12]}" / "module.so"
    open_cache(build.cache)
    if library.is_file():
        check_module(library)
        return library
    with tempfile.TemporaryDirectory(dir=build.cache) as temporary:
        work = Path(temporary)
        (work / "actions.cpp").write_text(text)
        plain = [w for w in build.host if not w.startswith(("-DQUARKSMITH_TARGET", "-O"))]
        made = str(work / "module.so")
        run_compiler([*plain, "-O0", "-fPIC", "-shared", str(work / "actions.cpp"), "-o", made])
        record_module(work / "module.so")
        shutil.rmtree(library.parent, ignore_errors=True)
        work.rename(library.parent)
        work.mkdir()  # for the temporary directory to remove
    check_module(library)
    return library
