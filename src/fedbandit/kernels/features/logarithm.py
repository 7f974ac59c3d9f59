"""The natural logarithm from sums, products and quotients alone, so that every machine and language has the same bits.

Libraries of mathematics differ in the last bit of some logarithms, and so do the engines of JavaScript. The method is
that of fdlibm: value = 2^k (1 + f), with 1 + f from sqrt(1/2) to sqrt(2); log(1 + f) is a series in s = f / (2 + f), of
which seven terms are as close as doubles are.
"""

from __future__ import annotations

from fedbandit.kernels.shared.compiled import compiled, interpreted

ROOT = 1.4142135623730951
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum; k times the first is exact
L1, L2, L3, L4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
L5, L6, L7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01


@compiled
def logarithm(value: float) -> float:
    """Return the logarithm of a number above 0, to less than one unit of its last place.

    >>> logarithm(1.0), logarithm(10.0)
    (0.0, 2.302585092994046)
    """
    power = 0.0
    while value < 0.5 * ROOT:
        value *= 2.0
        power -= 1.0
    while value > ROOT:
        value *= 0.5
        power += 1.0
    f = value - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (L2 + w * (L4 + w * L6))
    odd = z * (L1 + w * (L3 + w * (L5 + w * L7)))
    half = 0.5 * f * f
    return s * (half + (even + odd)) + power * LOG_2_LOW - half + f + power * LOG_2_HIGH


plain_logarithm = interpreted(logarithm)  # the same bits, for the few numbers of a declaration
