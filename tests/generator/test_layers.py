"""Layers of the C++ sources: sub-folders include those below them alone."""

from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import pytest
from test_rules import ALLOWED, ROOT, included
from tree import tracked


def includes_of(*folders: str) -> dict[str, set[str]]:
    """Headers that each C++ file below these folders includes, all by their paths from the root."""
    kinds = ("hpp", "cpp", "cu", "hip")
    files = tracked(*(f"{folder}/*.{kind}" for folder in folders for kind in kinds))
    return {str(path.relative_to(ROOT)): included(path) for path in files}


SUB_FOLDERS = {
    "runtime": ("kernels", "", "lattice", "targets", "ranks", "fields", "io"),
    "solvers": ("krylov", "links", "gauge", "actions", "multigrid", "eigen", "solve", "hmc", "measure"),
}
"""From the lowest up: files of one include those of folders before it and their own. The empty name stands for files
that are in no sub-folder."""


def sub_folder(name: str) -> str:
    """`fields` of `runtime/fields/field.hpp`, nothing of `runtime/error.hpp`."""
    return (*PurePosixPath(name).parent.parts, "")[1]


@pytest.mark.parametrize("folder", SUB_FOLDERS)
def test_sub_folders_are_layers(folder):
    order = SUB_FOLDERS[folder]
    includes = includes_of(folder)
    assert {sub_folder(name) for name in includes} == set(order)
    for file, names in includes.items():
        own = order.index(sub_folder(file))
        above = {n for n in names if n.startswith(f"{folder}/") and order.index(sub_folder(n)) > own}
        assert not above, f"{file} includes {', '.join(above)} of a later layer"


def circle_of_folders(includes: dict[str, set[str]]) -> list[str]:
    """Folders that include each other by way of their files, at the depth at which that is first seen."""
    for depth in range(1, 8):
        graph: dict[str, set[str]] = {}
        for file, names in includes.items():
            own, *others = ("/".join(PurePosixPath(name).parent.parts[:depth]) for name in (file, *names))
            graph.setdefault(own, set()).update(set(others) - {own})
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as circle:
            return list(circle.args[1])
    return []


def test_no_folders_include_each_other():
    includes = includes_of(*(folder for folder in ALLOWED if folder != "tests"))
    assert len(includes) > 500
    assert not circle_of_folders(includes)


def test_a_circle_of_folders_is_seen():
    there = {"a/b/x.hpp": {"a/c/y.hpp", "a/b/z.hpp"}, "a/d.hpp": {"a/b/x.hpp"}}
    assert not circle_of_folders(there)
    assert set(circle_of_folders(there | {"a/c/y.hpp": {"a/d.hpp"}})) == {"a", "a/b", "a/c"}
    assert set(circle_of_folders(there | {"a/c/d/y.hpp": {"a/b/x.hpp"}})) == {"a/b", "a/c"}
    below = {"a/b/c/x.hpp": {"a/b/d/y.hpp"}, "a/b/d/y.hpp": {"a/b/c/z.hpp"}}
    assert set(circle_of_folders(below)) == {"a/b/c", "a/b/d"}
