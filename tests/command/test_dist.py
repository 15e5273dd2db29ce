"""A clone that was never built, and the tarball of `make dist`, with Python and without."""

import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT
from tree import program

LISTED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
pytestmark = pytest.mark.skipif(not LISTED, reason="needs a git clone")
PLANNED = {"cpu/wilson_double.cpp", "cpu/registry.cpp", "generated/tables.cpp", "generated/tuned.cpp"}
DAY = "2026-01-02T03:04:05+00:00"


def run(folder: Path, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the environment of this process and some settings."""
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GIT_AUTHOR_DATE": DAY, "GIT_COMMITTER_DATE": DAY}
    command = [str(w) for w in words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=plain | environment, check=False)


def commit(folder: Path, *arguments: str) -> None:
    """Commits everything, as nobody in particular."""
    for words in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x", *arguments]):
        done = run(folder, "git", *words)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What git keeps of this tree, in a repository of its own, whose default profile is small: it is rendered often."""
    folder = tmp_path_factory.mktemp("dist") / "clone"
    for name in filter(None, LISTED.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
            (folder / name).chmod((ROOT / name).stat().st_mode)
    (folder / "generator/profiles/default.toml").write_bytes((ROOT / "generator/profiles/dev.toml").read_bytes())
    done = run(folder, sys.executable, "-m", "generator", "generate", PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done.stderr
    run(folder, "git", "init", "-q")
    commit(folder)
    return folder


@pytest.fixture
def without_python(tmp_path):
    """A search path whose Python, like that of many machines, has no Jinja2."""
    lacks = "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'jinja2'\" >&2\nexit 1\n"
    program(tmp_path / "bin" / "python3", lacks)
    return f"{tmp_path}/bin:/usr/bin:/bin"


def configured(source: Path, build: Path, *settings: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = ("-DQUARKSMITH_TESTS=OFF", "-DQUARKSMITH_CUDA=OFF", "-DQUARKSMITH_MPI=OFF", *settings)
    return run(source, "cmake", "-S", source, "-B", build, "-G", "Ninja", *settings, **environment)


def planned(build: Path) -> set[str]:
    """The sources that would be compiled, each of which must be there."""
    entries = json.loads((build / "compile_commands.json").read_text())
    assert all(Path(entry["file"]).is_file() for entry in entries)
    return {"/".join(Path(entry["file"]).parts[-2:]) for entry in entries}


def test_a_clone_says_what_rendering_needs(clone, without_python, tmp_path):
    (clone / "generated" / "tables.cpp").unlink(missing_ok=True)
    done = configured(clone, tmp_path / "build", PATH=without_python)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "is missing and cannot be rendered: ModuleNotFoundError: No module named 'jinja2'" in said
    assert "`make setup`" in said and "`make dist`" in said
    assert said.count("CMake Error") == 1
    assert "QUARKSMITH_PYTHON:" not in (tmp_path / "build" / "CMakeCache.txt").read_text()  # `make setup` may follow


def test_a_clone_renders_what_it_lacks_and_what_is_old(clone, without_python, tmp_path):
    (clone / "generated" / "tables.cpp").unlink(missing_ok=True)
    done = configured(clone, tmp_path / "build", f"-DQUARKSMITH_PYTHON={sys.executable}")
    assert done.returncode == 0, done.stderr
    assert "Rendered generated/: generated/" in done.stdout
    assert planned(tmp_path / "build") >= PLANNED
    assert not run(clone, "git", "status", "--porcelain").stdout, "git keeps what was rendered"
    again = configured(clone, tmp_path / "build")
    assert again.returncode == 0 and "Rendered" not in again.stdout
    (clone / "templates" / "tables.cpp.j2").touch()
    renewed = configured(clone, tmp_path / "build")
    assert "templates/tables.cpp.j2 is newer" in renewed.stdout
    (clone / "templates" / "tables.cpp.j2").touch()
    kept = configured(clone, tmp_path / "other", PATH=without_python)
    assert kept.returncode == 0 and "it is taken as it is" in " ".join(kept.stderr.split())


@pytest.fixture(scope="module")
def tarball(clone):
    (clone / "quarksmith-0.2.0.tar.gz").unlink(missing_ok=True)
    done = run(clone, "tools/dist.sh", sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(clone.glob("quarksmith-*.tar.gz"))


def test_a_tarball_builds_without_python(tarball, without_python, tmp_path):
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
        assert {(m.uid, m.gid) for m in archive} == {(0, 0)} and len({m.mtime for m in archive}) == 1
        archive.extractall(tmp_path)
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert {name.split("/")[0] for name in names} == {names[0]}
    assert not any("__pycache__" in name or name.endswith(".part") for name in names)
    done = configured(tmp_path / names[0], tmp_path / "build", PATH=without_python)
    assert done.returncode == 0, done.stderr
    assert "CMake Warning" not in done.stderr and "Rendered" not in done.stdout
    assert planned(tmp_path / "build") >= PLANNED


def test_a_commit_gives_the_same_bytes_and_nothing_is_replaced_unasked(tarball, clone):
    first = hashlib.sha256(tarball.read_bytes()).digest()
    refused = run(clone, "tools/dist.sh", sys.executable)
    assert refused.returncode == 1 and f"{tarball.name} exists; remove it or give OVERWRITE=1" in refused.stderr
    again = run(clone, "tools/dist.sh", sys.executable, OVERWRITE="1")
    assert again.returncode == 0, again.stderr
    assert hashlib.sha256(tarball.read_bytes()).digest() == first


def test_what_is_not_committed_or_not_rendered_is_told(tarball, clone):
    before = tarball.read_bytes()
    body = clone / "generated" / "bodies" / "wilson_nr.hpp"
    text = body.read_text()
    body.write_text(text + "// typed\n")
    refused = run(clone, "tools/dist.sh", sys.executable, OVERWRITE="1")
    assert refused.returncode == 1 and "uncommitted changes" in refused.stderr and body.name in refused.stderr
    commit(clone)
    stale = run(clone, "tools/dist.sh", sys.executable, OVERWRITE="1")
    assert stale.returncode == 1 and "is not what the commit renders" in stale.stderr and body.name in stale.stderr
    assert tarball.read_bytes() == before and not list(clone.glob("*.part"))
    body.write_text(text)
    commit(clone)


def test_a_tarball_is_made_of_a_commit(tarball, tmp_path):
    with tarfile.open(tarball) as archive:
        archive.extractall(tmp_path)
    folder = next(tmp_path.iterdir())
    refused = run(folder, "tools/dist.sh", sys.executable)
    assert refused.returncode == 1 and "is no git clone" in refused.stderr
