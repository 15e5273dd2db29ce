"""What pages say that commands print: blocks ```text, compared with what the commands before them print.

AVX2 and AVX-512 kernels give the same bits; other processors round differently, and trajectories
and heatbaths then go apart, within errors. So a value with an error, 0.761(23), may be off by that error, and the error
by half of itself; whole numbers, such as iterations, by 5 %; others by one unit of their last digit, or 1e-4.
Residuals and other numbers below 1e-6 agree within a factor of five; seconds are not compared.
"""

import re

TEXT = re.compile(r"^```text\n(.*?)^```$", re.M | re.S)
SECONDS = re.compile(r"\d[\d.]* s\b")
NUMBER = re.compile(r"(?<![\w.^])([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan)(?:\((\d+(?:\.\d+)?)\))?(?![\w(])")


def parts(text: str) -> list[tuple[str, list[str]]]:
    """A page as texts and the lines that the commands of each print."""
    pieces = TEXT.split(text)
    return [(before, after.splitlines()) for before, after in zip(pieces[::2], [*pieces[1::2], ""], strict=True)]


def skeleton(line: str) -> str:
    """A line without its numbers."""
    return " ".join(NUMBER.sub("#", SECONDS.sub("# s", line)).split())


def numbers(line: str) -> list[tuple[str, str | None]]:
    """(number, error) of a line, but for seconds."""
    return [(m[1], m[2]) for m in NUMBER.finditer(SECONDS.sub("", line))]


def unit(text: str) -> float:
    """Of the last digit of a number."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def agree(page: tuple[str, str | None], found: tuple[str, str | None]) -> bool:
    """Whether a number of a page is the one that was found."""
    (text, error), (other, other_error) = page, found
    value, real = float(text), float(other)
    if error is not None:
        scale = 1.0 if "." in error else unit(text)
        near = abs(value - real) <= float(error) * scale
        return near and other_error is not None and abs(float(error) - float(other_error)) <= max(1, float(error) / 2)
    if 0 < abs(value) < 1e-6:
        return abs(value) / 5 < abs(real) < abs(value) * 5
    relative = 0.05 if text.isdigit() else 1e-4
    return abs(value - real) <= max(1.01 * unit(text) if "." in text else 0, relative * abs(value))


def missing(lines: list[str], output: str, exact: bool) -> list[str]:
    """Those lines of a page that the output lacks: with other words or, if `exact`, other numbers."""
    wrong = []
    for line in lines:
        begin = line.removesuffix("...").rstrip()
        same = [
            o
            for o in output.splitlines()
            if skeleton(o) == skeleton(begin) or (begin != line and skeleton(o).startswith(skeleton(begin)))
        ]
        wanted = numbers(begin)
        if exact:
            same = [o for o in same if all(map(agree, wanted, numbers(o)))]
        if not same:
            wrong.append(line)
    return wrong
