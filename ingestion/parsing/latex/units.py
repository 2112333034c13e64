"""Numbers and units of the siunitx package, as a person writes them."""

from __future__ import annotations

import re

_UNITS = {
    "metre": "m", "meter": "m", "gram": "g", "second": "s", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J",
    "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S",
    "weber": "Wb", "tesla": "T", "henry": "H", "lumen": "lm", "lux": "lx", "becquerel": "Bq",
    "gray": "Gy", "sievert": "Sv", "litre": "L", "liter": "L", "tonne": "t", "minute": "min",
    "hour": "h", "day": "d", "degree": "°", "degreeCelsius": "°C", "celsius": "°C",
    "percent": "%", "bar": "bar", "electronvolt": "eV", "hectare": "ha", "byte": "o", "bit": "bit",
    "decibel": "dB", "radian": "rad", "steradian": "sr", "angstrom": "Å", "astronomicalunit": "ua",
    "dalton": "Da", "arcminute": "′", "arcsecond": "″", "euro": "€", "dollar": "$", "year": "an",
    "kilogram": "kg", "km": "km", "m": "m", "cm": "cm", "mm": "mm", "kg": "kg", "g": "g", "s": "s",
    "ms": "ms", "Hz": "Hz", "kHz": "kHz", "MHz": "MHz", "GHz": "GHz", "N": "N", "Pa": "Pa",
    "J": "J", "W": "W", "kW": "kW", "V": "V", "A": "A", "K": "K", "mol": "mol", "L": "L",
}  # fmt: skip
_PREFIXES = {
    "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n", "micro": "µ",
    "milli": "m", "centi": "c", "deci": "d", "deca": "da", "hecto": "h", "kilo": "k", "mega": "M",
    "giga": "G", "tera": "T", "peta": "P", "exa": "E", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi",
    "tebi": "Ti",
}  # fmt: skip
_WORD = re.compile(r"\\([a-zA-Z]+)\s*(?:\{([^{}]*)\})?|[./^~]|\{([^{}]*)\}|[^\\{}./^~\s]+|\s+")
_POWERS = {"2": "²", "3": "³", "-1": "⁻¹", "-2": "⁻²", "-3": "⁻³", "4": "⁴"}
_GROUP = r"(?:\[[^\]]*\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
_FORMULA = re.compile(
    rf"\\(?:(?P<both>SI|qty){_GROUP}\s*{_GROUP}|(?P<unit>si|unit){_GROUP}|(?P<num>num|ang|numlist|"
    rf"numprint|nombre){_GROUP}|(?P<range>SIrange|qtyrange|numrange){_GROUP}\s*{_GROUP}(?:{_GROUP})?)"
)


def number(text: str, language: str = "fr") -> str:
    """`12345.6` as « 12 345,6 », or "12,345.6" in English."""
    text = re.sub(r"\s+|\\[,;: ]|~", "", text)
    match = re.fullmatch(
        r"([<>~=]?[+-]?|\\pm)(\d*)(?:[.,](\d+))?(?:\+-(\d+(?:[.,]\d+)?)|\((\d+)\))?(?:[eEdD]([+-]?\d+))?",
        text,
    )
    if not match:
        return text.replace("x", " × ").replace("+-", " ± ")
    sign, whole, decimals, margin, brackets, power = match.groups()
    french = language.startswith("fr")
    if len(whole) > 4:
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", " " if french else ",", whole)
    out = sign.replace("\\pm", "±").replace("-", "−" if power else "-") + whole
    if decimals:
        out += ("," if french else ".") + decimals
    if margin or brackets:
        out += f" ± {margin}" if margin else f"({brackets})"
    if power:
        out += f" × 10^{power}" if out.strip("+-−") else f"10^{power}"
    return out


def unit(text: str) -> str:
    """`\\kilo\\metre\\per\\hour` and `km/h` as « km/h »."""
    out: list[str] = []
    prefix, per, power = "", False, ""
    for match in _WORD.finditer(text.strip()):
        name, piece = match.group(1), match.group()
        if name is None:
            if piece == "^":
                continue
            if match.group(3) is not None:
                out.append(_POWERS.get(match.group(3), match.group(3)))
            elif piece in {".", "~"}:
                out.append(" ")
            elif out and re.fullmatch(r"-?\d", piece):
                out.append(_POWERS.get(piece, piece))
            else:
                out.append(piece.replace(" ", ""))
            continue
        if name in _PREFIXES:
            prefix = _PREFIXES[name]
        elif name == "per":
            per = True
        elif name in {"square", "squared", "cubic", "cubed"}:
            sign = "²" if name.startswith("squ") else "³"
            if name in {"square", "cubic"}:
                power = sign
            else:
                out.append(sign)
        elif name in {"tothe", "raiseto"}:
            out.append(_POWERS.get(match.group(2) or "", match.group(2) or ""))
        else:
            separator = "/" if per else (" " if out and out[-1] not in {"/", " "} else "")
            shown = _UNITS.get(name, name)
            out.append(separator + prefix + shown + power)
            prefix, per, power = "", False, ""
    return "".join(out).strip()


def quantity(value: str, unit_text: str, language: str = "fr") -> str:
    shown = unit(unit_text)
    joint = (
        "" if shown in {"°", "′", "″"} or (shown == "%" and not language.startswith("fr")) else " "
    )
    return f"{number(value, language)}{joint}{shown}".strip()


def in_formula(tex: str) -> str:
    """Numbers and units inside a formula, spelled with what every renderer knows."""
    if "\\" not in tex:
        return tex
    return _FORMULA.sub(_spelled, tex)


def _spelled(match: re.Match[str]) -> str:
    groups = list(match.groups())
    if match.group("both"):
        return f"{_digits(groups[1])}\\,\\text{{{unit(groups[2])}}}"
    if match.group("unit"):
        return f"\\text{{{unit(groups[4])}}}"
    if match.group("num"):
        degree = "^\\circ" if match.group("num") == "ang" else ""
        return _digits(groups[6]) + degree
    shown = unit(groups[10] or "")
    tail = f"\\,\\text{{{shown}}}" if shown else ""
    return f"{_digits(groups[8])}\\text{{ – }}{_digits(groups[9])}{tail}"


def _digits(text: str) -> str:
    power = re.fullmatch(r"\s*(.*?)[eE]([+-]?\d+)\s*", text)
    if power:
        head = f"{_digits(power.group(1))} \\times " if power.group(1) else ""
        return f"{head}10^{{{power.group(2)}}}"
    shown = number(text).replace(" ", "\\,").replace(",", "{,}").replace("−", "-")
    return shown.replace("\\{,}", "\\,")
