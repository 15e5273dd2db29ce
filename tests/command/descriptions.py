"""RUN.toml of `hmc` and `measure`, from values."""

import json
import re


def toml(value: object) -> str:
    """A value as TOML has it; tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def section(kind: str, /, **keys: object) -> str:
    """A table of which there is one."""
    return f"[{kind}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())


def table(kind: str, /, **keys: object) -> str:
    """A table of which there may be several."""
    return section(f"[{kind}]", **keys)


def hmc_file(*monomials: str, gauge: str, steps: int, kind: str = "leapfrog", extents=(4, 4, 4, 4), **run) -> str:
    """Trajectories with monomials, texts that begin with their names, all in one level of an integrator."""
    names = [re.match('name = "(.*?)"', text)[1] for text in monomials]
    parts = [section("lattice", extents=list(extents), gauge=gauge), section("trajectory", **run)]
    parts += [f"[[monomial]]\n{text.strip()}\n" for text in monomials]
    return "\n".join([*parts, table("integrator", kind=kind, steps=steps, monomials=names)])


def run_file(gauge: object, *tables: str, **keys: object) -> str:
    """Measurements on one configuration."""
    return "\n".join([section("configurations", files=[str(gauge)], **keys), *tables])


def quarks(source: str, action: str, solved: dict[str, dict], **common: object) -> str:
    """Quarks by name, and propagators of the same names."""
    text = ""
    for name, keys in solved.items():
        text += table("quark", name=name, action=action, **common, **keys)
        text += table("propagator", name=name, quark=name, source=source)
    return text
