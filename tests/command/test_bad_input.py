"""Bad input gets one clear error that names the operands and the remedy, a non-zero status, and loses nothing."""

import resource
import signal

import numpy as np
import pytest

MASS = ("--mass", "0.3")
UNIT = ("--gauge", "unit:4,4,4,4")
OUT = ("--correlators", "c.json")


@pytest.fixture
def files(quarksmith, tmp_path):
    """A folder with good configurations in several formats."""
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--start", "hot", "--out", "u")
    for name in ("u.nersc", "u.milc"):
        quarksmith("convert", "u_00001.ildg", name)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("propagator", *UNIT, *MASS), "needs --out FILE.h5, --correlators FILE.json"),
        (("propagator", *UNIT, *MASS, "--out", "p.h5", "--sink", "gaussian:1,2"), "--sink"),
        (
            ("propagator", *UNIT, *MASS, *OUT, "--precision", "double-half", "--basis", "degrand_rossi"),
            'basis = ["degrand_rossi"]',
        ),
        (("propagator", *UNIT, *MASS, *OUT, "--mu", "0.1"), "add --action twisted-mass"),
        (("propagator", *UNIT, *MASS, *OUT, "--field", "phi"), "--field 'phi' is not NAME=FILE"),
    ],
)
def test_wrong_use_is_status_2(quarksmith, tmp_path, arguments, message):
    """What else is wrong use: tests/refusals_test.cpp and test_options.py."""
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
