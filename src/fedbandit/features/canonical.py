"""JSON in its one canonical form (RFC 8785), so that equal declarations have equal fingerprints in every language."""

from __future__ import annotations

import json
from typing import Any


def canonical(value: Any) -> str:
    """Return a value as canonical JSON; keys are to be ASCII.

    >>> canonical({"weight": 2.0, "levels": ["Köln"], "constant": True})
    '{"constant":true,"levels":["Köln"],"weight":2}'
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(each) for each in value) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(float(value))
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """Return a finite number as ECMAScript writes it: the shortest digits that give it back.

    >>> [number(each) for each in (2.0, -0.0, 0.1, 1e-7, 1.5e-6, 1e20, 1e21, 123456789012345680000.0)]
    ['2', '0', '0.1', '1e-7', '0.0000015', '100000000000000000000', '1e+21', '123456789012345680000']
    """
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # digits before the point
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        text = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{point - 1:+d}"
    return sign + text
