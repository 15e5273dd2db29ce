"""Bad input gets one clear error that names the operands and the remedy, a non-zero status, and loses nothing."""

import resource
import signal

import numpy as np
import pytest

MASS = ("--mass", "0.3")
UNIT = ("--gauge", "unit:4,4,4,4")
OUT = ("--correlators", "c.json")
TWISTED = ("--action", "twisted-mass", "--mu", "0.1")


@pytest.fixture
def files(quarksmith, tmp_path):
    """A folder with good configurations in several formats."""
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "hot", "--out", "u")
    for name in ("u.nersc", "u.milc"):
        quarksmith("convert", "u_00001.ildg", name)
    return tmp_path


WRONG_USE = [
    (("propagator", *UNIT, *OUT), "exactly one of --mass and --kappa"),
    (("propagator", *UNIT, *MASS, "--kappa", "0.1", *OUT), "exactly one of --mass and --kappa"),
    (("propagator", *UNIT, *MASS), "needs --out FILE.h5, --correlators FILE.json"),
    (("propagator", *UNIT, "--kappa", "-0.1", *OUT), "--kappa -0.1: use a positive number"),
    (("propagator", *UNIT, *MASS, *OUT, "--action", "overlap"), "action 'overlap' is unknown; use wilson"),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--mu", "0.1"),
        "--mu belongs to --action twisted-mass, twisted-clover, naive, not to wilson; add --action twisted-mass",
    ),
    (("propagator", *UNIT, *MASS, *OUT, "--action", "twisted-mass"), "--action twisted-mass needs --mu MU"),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--action", "twisted-clover", "--mu", "1"),
        "--action twisted-clover needs exactly one of --csw-r and --csw",
    ),
    (("propagator", *UNIT, *MASS, *OUT, *TWISTED, "--flavours", "0,1"), "two flavours, which --epsilon makes"),
    (
        ("propagator", *UNIT, *MASS, *OUT, *TWISTED, "--epsilon", "0.1", "--flavours", "0,2"),
        "is not SOURCE,SINK, each 0 or 1",
    ),
    (
        (
            "propagator",
            *UNIT,
            *MASS,
            *OUT,
            "--action",
            "twisted-mass",
            "--mu",
            "0",
            "--epsilon",
            "4.3",
            "--even-odd",
            "symmetric",
        ),
        "has no even-odd form with these parameters",
    ),
    (("propagator", *UNIT, *MASS, *OUT, "--solver", "gmres"), "gmres-dr? use auto, bicgstab, "),
    (("propagator", *UNIT, *MASS, *OUT, "--precision", "triple"), "precision 'triple' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--precision", "double-"), "precision '' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--precision", "half-single"), "single must not be higher than half"),
    (("propagator", *UNIT, *MASS, *OUT, "--precision", "double-single-half"), "3 parts; use one or two"),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--updates", "never", "--precision", "double-half"),
        "use reliable, replacement",
    ),
    (("propagator", *UNIT, *MASS, *OUT, "--reconstruct", "14"), "link storage 'r14' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--basis", "chiral"), "basis 'chiral' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--even-odd", "odd"), "even-odd form 'odd' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--boundary", "1,1"), "is not four numbers"),
    (("propagator", *UNIT, *MASS, *OUT, "--anisotropy", "2"), "is not xi0,nu"),
    (("propagator", *UNIT, *MASS, *OUT, "--anisotropy", "0,1"), "xi0 0; use a number from 0.001"),
    (("propagator", *UNIT, *MASS, *OUT, "--source", "point:0,0,0,9"), "coordinate t = 9 lies outside the 4x4x4x4"),
    (("propagator", *UNIT, *MASS, *OUT, "--source", "box:1"), "source 'box:1' is unknown"),
    (("propagator", *UNIT, *MASS, *OUT, "--sink", "wall"), "sink 'wall' is unknown"),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--source", "gaussian:0,0,0,0:2,0"),
        "N = 0 is not a whole number between 1 and 1000000; use gaussian:x,y,z,t:w,N",
    ),
    (("propagator", *UNIT, *MASS, *OUT, "--max-iterations", "0"), "--max-iterations: 0 is too small"),
    (("propagator", *UNIT, *MASS, *OUT, "--tol", "0"), "--tol: 0; use a number between 0 and 1"),
    (("propagator", *UNIT, "--mass", "-4", "--even-odd", "symmetric", *OUT), "no even-odd form with these parameters"),
    (("propagator", "--gauge", "unit:4,4,3,4", *MASS, *OUT), "lattice 4x4x3x4: extent 3 is not an even number"),
    (("propagator", "--gauge", "weak:0.1:4,4,4,4", *MASS, *OUT), "is not FILE, unit:X,Y,Z,T"),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--device", "tpu"),
        "device 'tpu' is unknown; did you mean cpu? use cpu, cuda, cuda:N, hip, hip:N or auto",
    ),
    (
        ("propagator", *UNIT, *MASS, *OUT, "--precision", "double-half", "--basis", "degrand_rossi"),
        'basis = ["degrand_rossi"]',
    ),
    (("propagator", *UNIT, "--mass", "heavy", *OUT), "--mass"),
    (("propagator", *UNIT, *MASS, *OUT, "--action", "clovr"), "action 'clovr' is unknown; did you mean clover? use"),
    (("propagator", *UNIT, *MASS, *OUT, "--csw", "1"), "not to wilson; add --action clover, or leave it out"),
    (("propagator", *UNIT, *MASS, *OUT, "--source", "gausian:0,0,0,0:4,30"), "did you mean gaussian? use corner-wall"),
    (("propagator", *UNIT, *MASS, *OUT, "--sink", "jacobbi:0.2,3"), "did you mean jacobi? use point"),
    (("propagator", *UNIT, *MASS, *OUT, "--smear-links", "stut:0.1,3"), "did you mean stout? use ape"),
    (("propagator", *UNIT, *MASS, *OUT, "--boundary", "antiperiodc"), "did you mean antiperiodic? use periodic"),
    (("propagator", "--gauge", "unt:4,4,4,4", *MASS, *OUT), "--gauge unt:4,4,4,4: there is no such file; did you mean"),
    (("propagator", *UNIT, *MASS, *OUT, "--device", "cppu"), "device 'cppu' is unknown; did you mean cpu? use"),
    (("solve-bench", *UNIT, *MASS, "--solver", "bicgstab,multishft"), "did you mean multishift? use"),
    (
        ("solve-bench", *UNIT, *MASS, "--precision", "double,duble"),
        "precision 'duble' is unknown; did you mean double?",
    ),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "cld"), "did you mean cold? use cold"),
    (("bench", "--lattice", "4,4,4,4", "--family", "hoping"), "this build has no such kernel; did you mean hopping?"),
    (("propagator", *UNIT, "--masss", "1", *OUT), "--masss"),
    (("heatbath", "--sweeps", "1"), "needs --lattice X,Y,Z,T, or --resume FILE"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--beta", "-1"), "beta = -1; use a positive number"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "warm"), "start 'warm' is unknown"),
    (("heatbath", "--lattice", "4,4,4", "--sweeps", "1"), "is not four integers"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--seed", "-1"), "--seed: -1 is negative"),
    (
        ("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--resume", "auto"),
        "--resume auto belongs to --out PREFIX",
    ),
    (
        ("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--time-limit", "1:99"),
        "--time-limit 1:99: use a positive time as SECONDS, MM:SS or HH:MM:SS",
    ),
    (("propagator", "--gauge", "hot:4,4,4,4:-1", *MASS, *OUT), "seed -1; use 0 or more"),
    (("propagator", *UNIT, *MASS, *OUT, "--boundary", "1e300,0,0,0"), "boundary phase 1e+300"),
    (("heatbath", "--lattice", "4096,4096,4096,4096", "--sweeps", "1"), "more than 2^31 - 1 sites"),
    (("bench", "--lattice", "4,4,4,4", "--only", "nothing"), "no kernel of this build has that in its name"),
    (("frobnicate",), "frobnicate"),
    ((), "subcommand is required"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_USE, ids=[m for _, m in WRONG_USE])
def test_wrong_use_is_status_2(quarksmith, tmp_path, arguments, message):
    assert message in quarksmith.refuses(*arguments)
    assert not list(tmp_path.iterdir())


def test_missing_and_unreadable_files(quarksmith, tmp_path):
    assert "No such file" in quarksmith.refuses("info", "nowhere.ildg", status=1)
    (tmp_path / "folder").mkdir()
    assert "is a folder" in quarksmith.refuses("info", "folder", status=1)
    (tmp_path / "empty").write_bytes(b"")
    assert "is empty" in quarksmith.refuses("info", "empty", status=1)
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 40)
    message = quarksmith.refuses("info", "noise", status=1)
    assert "unknown format; supported are " in message and "ILDG" in message
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b" + b"\x00" * 50)
    assert "gzip stream is damaged" in quarksmith.refuses("info", "broken.gz", "--lattice", "4,4,4,4", status=1)


@pytest.mark.parametrize("name", ["u_00001.ildg", "u.nersc", "u.milc"])
def test_truncated_files(quarksmith, files, name):
    whole = (files / name).read_bytes()
    (files / "cut").write_bytes(whole[: len(whole) * 2 // 3])
    message = quarksmith.refuses("info", "cut", status=1)
    assert "truncated" in message and "cut" in message


@pytest.mark.parametrize(("name", "what"), [("u_00001.ildg", "SciDAC"), ("u.nersc", "NERSC"), ("u.milc", "MILC")])
def test_flipped_bits(quarksmith, files, name, what):
    data = bytearray((files / name).read_bytes())
    data[len(data) // 2] ^= 0x10
    (files / "flipped").write_bytes(data)
    assert "damaged" in quarksmith.refuses("info", "flipped", status=1)
    message = quarksmith.refuses("propagator", "--gauge", "flipped", *MASS, *OUT, status=1)
    assert f"{what} checksum recorded as" in message or "not finite" in message
    assert not (files / "c.json").exists()


def test_wrong_magic_and_wrong_header(quarksmith, files):
    data = bytearray((files / "u_00001.ildg").read_bytes())
    data[0] ^= 0xFF
    (files / "magic").write_bytes(data)
    assert "unknown format" in quarksmith.refuses("info", "magic", status=1)
    text = (files / "u.nersc").read_bytes()
    (files / "extents").write_bytes(text.replace(b"DIMENSION_4 = 4", b"DIMENSION_4 = 6"))
    assert "truncated or wrong extents" in quarksmith.refuses("info", "extents", status=1)
    (files / "odd").write_bytes(text.replace(b"DIMENSION_4 = 4", b"DIMENSION_4 = 3"))
    assert "not an even number" in quarksmith.refuses("info", "odd", status=2)
    (files / "plaquette").write_bytes(text.replace(b"PLAQUETTE = 0.", b"PLAQUETTE = 1."))
    assert "DIFFERS" in quarksmith("info", "plaquette", status=1).stdout
    (files / "header").write_bytes(text.replace(b"END_HEADER", b"ENDHEADERX"))
    assert "END_HEADER" in quarksmith.refuses("info", "header", status=1)


def test_extents_that_are_missing_or_contradict(quarksmith, files):
    message = quarksmith.refuses("info", "u_00001.ildg", "--lattice", "4,4,4,8")
    assert "holds a 4x4x4x4 lattice, but 4x4x4x8 is asked for" in message
    numbers = "\n".join(["1.0"] * (256 * 72))
    (files / "text").write_text(numbers)
    assert "give them with --lattice X,Y,Z,T" in quarksmith.refuses("info", "text")
    assert "truncated or --lattice is wrong" in quarksmith.refuses("info", "text", "--lattice", "4,4,4,8", status=1)
    assert "numbers follow" in quarksmith.refuses("info", "text", "--lattice", "4,4,4,2", status=1)


def text_configuration(path, change):
    """Unit links as text, changed by `change`."""
    links = np.zeros((256, 4, 3, 3, 2))
    links[..., range(3), range(3), 0] = 1
    change(links)
    path.write_text("\n".join(map(repr, links.ravel().tolist())))


def test_links_that_are_not_numbers_or_not_unitary(quarksmith, tmp_path):
    def poison(links):
        links[17, 2, 1, 1, 0] = np.nan

    text_configuration(tmp_path / "nan", poison)
    message = quarksmith.refuses("info", "nan", "--lattice", "4,4,4,4", status=1)
    assert "link z of site (1,0,1,0) is not finite" in message

    def stretch(links):
        links *= 1.1

    text_configuration(tmp_path / "stretched", stretch)
    gauge = ("--gauge", "stretched", "--lattice", "4,4,4,4")
    for command in (("propagator", *gauge, *MASS, *OUT), ("flow", *gauge[1:]), ("smear", "stout", gauge[1], "s.ildg")):
        lattice = gauge[2:] if command[0] == "smear" else ()
        message = quarksmith.refuses(*command, *lattice)
        assert "the links are not SU(3): they deviate by 2.1e-01 from unitarity" in message
        assert "add --allow-non-su3" in message
    allowed = ("propagator", *gauge, *MASS, *OUT, "--allow-non-su3")
    message = quarksmith.refuses(*allowed, "--reconstruct", "12")
    assert "needs SU(3) links" in message and "use 18 reals" in message
    assert "stored with 18 reals" in quarksmith(*allowed).stderr
    assert "not SU(3)" in quarksmith("info", *gauge[1:]).stdout
    assert "not SU(3)" in quarksmith("convert", *gauge[1:2], "s.ildg", *gauge[2:]).stderr


def test_resuming_what_cannot_be_resumed(quarksmith, files):
    message = quarksmith.refuses("heatbath", "--resume", "u.nersc", "--sweeps", "1")
    assert "only files written by `quarksmith heatbath`" in message
    message = quarksmith.refuses("heatbath", "--resume", "u_00001.ildg", "--sweeps", "1", "--beta", "5")
    assert "--beta comes from the file of --resume" in message


def test_no_convergence_is_status_1(quarksmith, tmp_path):
    arguments = ("propagator", "--gauge", "weak:0.3:4,4,4,4:1", "--mass", "-0.3", *OUT)
    message = quarksmith.refuses(*arguments, "--max-iterations", "3", status=1)
    assert "not converged: residual" in message and "--max-iterations" in message
    message = quarksmith.refuses(*arguments, "--precision", "single", "--tol", "1e-12", status=1)
    assert "not converged" in message and "--precision double" in message
    assert not list(tmp_path.iterdir())


def limited(size: int):
    """Makes every write beyond `size` bytes of a file fail, as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_a_full_disk_loses_nothing(quarksmith, files):
    before = (files / "u_00001.ildg").read_bytes()
    message = quarksmith.refuses(
        "convert", "u.nersc", "u_00001.ildg", "--overwrite", status=1, preexec_fn=limited(20000)
    )
    assert "cannot write" in message and "unchanged" in message
    assert (files / "u_00001.ildg").read_bytes() == before
    assert not list(files.glob("*.part"))
    arguments = ("propagator", *UNIT, *MASS, "--out", "p.h5")
    message = quarksmith.refuses(*arguments, status=1, preexec_fn=limited(200000))
    assert "p.h5.part: cannot" in message
    assert not (files / "p.h5").exists()


def test_an_unwritable_place(quarksmith):
    message = quarksmith.refuses("propagator", *UNIT, *MASS, "--correlators", "no/such/folder/c.json", status=1)
    assert "no/such/folder/c.json: cannot create" in message


def test_a_missing_gpu(quarksmith):
    message = quarksmith.refuses("bench", "--device", "cuda:7", "--lattice", "4,4,4,4", status=1)
    assert "cuda:7" in message and "use device cpu" in message


def test_a_damaged_partial_propagator(quarksmith, tmp_path):
    (tmp_path / "p.h5.part").write_bytes(b"no HDF5")
    message = quarksmith.refuses("propagator", *UNIT, *MASS, "--out", "p.h5", status=1)
    assert "is no HDF5 file, or its first bytes are damaged; --overwrite discards it" in message
    quarksmith("propagator", *UNIT, *MASS, "--out", "p.h5", "--overwrite")
