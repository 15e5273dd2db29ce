"""Actions and their options in words: what `explain` prints and docs/actions.md shows."""

from __future__ import annotations

from .emit.words import formula
from .language import Action, Option, Parameter
from .language.parameters import option_name
from .operators import RECORDS
from .served import solvable_actions


def explain_action(action: Action) -> str:
    """Text of an action: description, formula and options."""
    lines = [option_name(action.name), "", f"  {action.text}", "", f"  {formula(RECORDS[action.name])}", ""]
    if action.extends:
        lines += [f"  --action {option_name(action.extends.name)} with {_choosing(action)} means it too.", ""]
    for name, option in action.options.items():
        default = _default(option)
        text = [option.meaning, option.range, f"default {default}" if default else ""]
        lines.append(f"  {name:<15} {', '.join(filter(None, text))}")
    return "\n".join(lines + [f"  {name:<15} of its shape" for name in _of_shape(action)])


def actions_table() -> str:
    """Markdown: the actions, then their options."""
    lines = ["| `--action` | | options |", "|---|---|---|"]
    rows: dict[tuple[str, ...], list[str]] = {}
    for a in solvable_actions():
        own = f"`{option_name(a.name)}`"
        also = f", or `{option_name(a.extends.name)}` with `{_choosing(a)}`" if a.extends else ""
        names = " ".join(f"`{o}`" for o in (*a.options, *_of_shape(a)))
        lines.append(f"| {own}{also} | {a.text} | {names} |")
        for name, o in a.options.items():
            rows.setdefault((name, o.meaning, _default(o), o.range), []).append(own)
    lines += ["", "| option | of | | default | range |", "|---|---|---|---|---|"]
    for (name, meaning, default, limits), of in sorted(rows.items()):
        lines.append(f"| `{name}` | {', '.join(of)} | {meaning} | {default} | {limits} |")
    return "\n".join(lines)


def shown_in(text: str) -> str:
    """A document with the tables as they are now in place of those that it has; as it is if it has none."""
    first, last = text.find("| `--action` |"), text.find("\n\nConventions:")
    return text if -1 in (first, last) else text[:first] + actions_table() + text[last:]


def _choosing(action: Action) -> str:
    """Options that an action alone has, not the one that it extends."""
    base = action.extends.options if action.extends else {}
    return " or ".join(name for name in action.options if name not in base)


def _of_shape(action: Action) -> list[str]:
    record = RECORDS[action.name]
    has_slices = record.form is not None and record.form.has_slices
    fields = [f"--field {name}=FILE" for name in record.given]
    return ["--ls"] * has_slices + ["--flavours"] * (record.flavours > 1) + fields


def _default(option: Option) -> str:
    given = option.default if isinstance(option, Parameter) else None
    return "" if given is None else f"{given:g}"
