"""openQCD files against a writer that shares no line with the runtime."""

import itertools
import struct

import numpy as np
import pytest
from independent import ildg_links
from lattice import random_links

EXTENT = (4, 2, 6, 4)  # x, y, z, t


@pytest.fixture(scope="module")
def links() -> np.ndarray:
    """Axes x, y, z, t, direction (x, y, z, t), row, column."""
    return random_links(EXTENT, 5)


def shifted(u: np.ndarray, direction: int) -> np.ndarray:
    return np.roll(u, -1, axis=direction)


def plaquette(u: np.ndarray) -> float:
    traces = []
    for mu, nu in itertools.combinations(range(4), 2):
        a, b = u[:, :, :, :, mu], u[:, :, :, :, nu]
        p = np.einsum("...ij,...jk,...lk,...il->...", a, shifted(b, mu), shifted(a, nu).conj(), b.conj())
        traces.append(p.real.mean())
    return float(np.mean(traces))


def openqcd_bytes(u: np.ndarray) -> bytes:
    """The layout that openQCD's documentation states: t slowest, z fastest; at odd sites U(x, mu), U(x - mu, mu).

    Directions in the order t, x, y, z; header four int32 extents, t first, and the plaquette between 0 and 3.
    """
    nx, ny, nz, nt = EXTENT
    data = struct.pack("<4i", nt, nx, ny, nz) + struct.pack("<d", plaquette(u))
    for t, x, y, z in itertools.product(range(nt), range(nx), range(ny), range(nz)):
        if (t + x + y + z) % 2 == 0:
            continue
        here = np.array([x, y, z, t])
        for mu in (3, 0, 1, 2):
            back = here.copy()
            back[mu] = (back[mu] - 1) % EXTENT[mu]
            data += u[tuple(here)][mu].astype("<c16").tobytes() + u[tuple(back)][mu].astype("<c16").tobytes()
    return data


def test_a_file_of_another_writer_holds_the_links_it_was_given(quarksmith, tmp_path, links):
    (tmp_path / "a.openqcd").write_bytes(openqcd_bytes(links))
    quarksmith("convert", "a.openqcd", "a.lime")
    assert np.array_equal(ildg_links(tmp_path / "a.lime").transpose(3, 2, 1, 0, 4, 5, 6), links)


def test_our_writer_writes_the_bytes_of_the_other_one(quarksmith, tmp_path, links):
    theirs = openqcd_bytes(links)
    (tmp_path / "a.openqcd").write_bytes(theirs)
    quarksmith("convert", "a.openqcd", "b.openqcd")
    ours = (tmp_path / "b.openqcd").read_bytes()
    assert ours[24:] == theirs[24:] and ours[:16] == theirs[:16]
    assert struct.unpack("<d", ours[16:24])[0] == pytest.approx(plaquette(links), abs=1e-13)


@pytest.mark.parametrize(("off", "status"), [(2e-15, 0), (3e-12, 1), (-5e-10, 1)])
def test_the_plaquette_is_compared_to_rounding(quarksmith, tmp_path, links, off, status):
    """It is stored in double, as it was computed; what is off by more is not that of the links."""
    data = bytearray(openqcd_bytes(links))
    data[16:24] = struct.pack("<d", struct.unpack("<d", data[16:24])[0] + off)
    (tmp_path / "a.openqcd").write_bytes(data)
    said = quarksmith("info", "a.openqcd", status=status)
    assert status == 0 or "the links do not match" in said.stderr


def test_a_wrong_order_of_links_is_found_by_the_plaquette(quarksmith, tmp_path, links):
    data = bytearray(openqcd_bytes(links))
    data[24 : 24 + 144], data[24 + 288 : 24 + 432] = data[24 + 288 : 24 + 432], data[24 : 24 + 144]
    (tmp_path / "a.openqcd").write_bytes(data)
    assert "the links do not match" in quarksmith.refuses("info", "a.openqcd", status=1)
