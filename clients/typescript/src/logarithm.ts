/** The natural logarithm as Python's side computes it, step by step: `Math.log` may differ from it in the last bit. */

const ROOT = 1.4142135623730951;
const LOG_2_HIGH = 6.9314718036912381649e-1;
const LOG_2_LOW = 1.90821492927058770002e-10;
const L1 = 6.66666666666673513e-1;
const L2 = 3.999999999940941908e-1;
const L3 = 2.857142874366239149e-1;
const L4 = 2.222219843214978396e-1;
const L5 = 1.818357216161805012e-1;
const L6 = 1.531383769920937332e-1;
const L7 = 1.479819860511658591e-1;

/** Return the logarithm of a number above 0. */
export function logarithm(value: number): number {
  let power = 0;
  for (; value < 0.5 * ROOT; power--) value *= 2;
  for (; value > ROOT; power++) value *= 0.5;
  const f = value - 1;
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const even = w * (L2 + w * (L4 + w * L6));
  const odd = z * (L1 + w * (L3 + w * (L5 + w * L7)));
  const half = 0.5 * f * f;
  return s * (half + (even + odd)) + power * LOG_2_LOW - half + f + power * LOG_2_HIGH;
}
