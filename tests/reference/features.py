"""Features literally as their specification says, one value after the other, in plain Python and without any table."""

from __future__ import annotations

import math
import re


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32 after the description of its author, byte by byte."""
    rotate = lambda x, r: (x << r | x >> (32 - r)) % 2**32  # noqa: E731
    mix = lambda k: rotate(k * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32  # noqa: E731
    h = seed
    for i in range(0, len(data) // 4 * 4, 4):
        h = (rotate(h ^ mix(int.from_bytes(data[i : i + 4], "little")), 13) * 5 + 0xE6546B64) % 2**32
    if len(data) % 4:
        h ^= mix(int.from_bytes(data[len(data) // 4 * 4 :], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    h ^= h >> 16
    return h - 2**32 if h >= 2**31 else h


def add_hashed(vector, name, value, seed=0):
    h = murmur3(name.encode(), seed)
    vector[abs(h) % len(vector)] += value if h >= 0 else -value


def length(vector):
    return math.sqrt(sum(each * each for each in vector))


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(int(value))


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def block(name, declared, value):
    """Return the coordinates of one feature."""
    kind = declared["kind"]
    if kind == "number":
        mark = [0.0] if declared.get("missing") == "indicator" else []
        if is_missing(value):
            return [0.0, *(1.0 for _ in mark)]
        low, high = declared["range"]
        value = min(max(value, low), high)
        if declared.get("scale") == "log":
            value, low, high = math.log(value), math.log(low), math.log(high)
        return [(2 * value - low - high) / (high - low), *mark]
    if kind == "bins":
        edges = declared["edges"]
        place = -1 if is_missing(value) else sum(edge <= value for edge in edges)
        return [float(i == place) for i in range(len(edges) + 1)]
    if kind == "category":
        levels = [text(each) for each in declared["levels"]]
        given = None if is_missing(value) else text(value)
        other = [float(given not in levels)] if declared.get("unknown", "other") == "other" else []
        return [float(level == given) for level in levels] + other
    found = [0.0] * declared["size"]
    for each in value if isinstance(value, list) else [value]:
        if not is_missing(each):
            words = re.findall(rb"[A-Za-z0-9\x80-\xff]+", text(each).encode())
            lower = [bytes(b + 32 if 65 <= b <= 90 else b for b in word).decode() for word in words]
            for part in lower if kind == "text" else [text(each)]:
                add_hashed(found, f"{name}={part}", 1.0)
    return [each / length(found) for each in found] if any(found) else found


def names(name, declared):
    kind = declared["kind"]
    if kind == "number":
        return [name, f"{name}?"] if declared.get("missing") == "indicator" else [name]
    if kind == "bins":
        return [f"{name}[{i}]" for i in range(len(declared["edges"]) + 1)]
    if kind == "category":
        other = ["?"] if declared.get("unknown", "other") == "other" else []
        return [f"{name}={level}" for level in [*map(text, declared["levels"]), *other]]
    return [f"{name}#{i}" for i in range(declared["size"])]


def vector(tables, context, arm):
    """Return x of one arm in a context."""
    declared = {**tables.get("context", {}), **tables.get("arm", {})}
    given = {**context, **arm}
    options = tables.get("features", {})
    values = {name: block(name, each, given.get(name)) for name, each in declared.items()}
    usual = [] if tables.get("arm") else list(tables.get("context", {}))
    blocks = [("", ["1"], [1.0], 1.0)] if options.get("constant", True) else []
    alone = [*options.get("main", usual), *tables.get("arm", {})]
    blocks += [(name, names(name, declared[name]), values[name], declared[name].get("weight", 1)) for name in alone]
    for name, cross in tables.get("cross", {}).items():
        one, other = cross["of"]
        labels = [f"{a}*{b}" for a in names(one, declared[one]) for b in names(other, declared[other])]
        products = [a * b for a in values[one] for b in values[other]]
        if "size" in cross:
            hashed = [0.0] * cross["size"]
            for label, product in zip(labels, products, strict=True):
                add_hashed(hashed, label, product)
            labels = [f"{name}#{i}" for i in range(cross["size"])]
            products = [each / max(1.0, length(hashed)) for each in hashed]
        blocks.append((name, labels, products, cross.get("weight", 1)))
    personal = options.get("personal", [])
    blocks = [each for each in blocks if each[0] not in personal] + [each for each in blocks if each[0] in personal]
    x = [weight * each for _, _, values, weight in blocks for each in values]
    scale = length(weight for *_, weight in blocks)
    if options.get("length") == "unit":
        scale = length(x) or 1.0
    x = [each / scale for each in x]
    if "hash_to" in options:
        hashed = [0.0] * options["hash_to"]
        for label, each in zip([label for _, labels, _, _ in blocks for label in labels], x, strict=True):
            add_hashed(hashed, label, each, seed=1)
        x = [each / max(1.0, length(hashed)) for each in hashed]
    return x
