/**
 * `multipleOf`, exact. ajv divides and looks whether the quotient is whole: then 4.35 is no multiple of 0.01, since neither is
 * held exactly; 5e-324 is one of 3, since the quotient underflows to 0; and a quotient from 1e21 on is taken for none. Numbers
 * are what is written of them in decimals.
 */
export function isMultiple(value: number, of: number): boolean {
  if (Number.isInteger(of)) return value % of === 0;
  const quotient = value / of;
  // So far off is no division, and most that are no multiples end here.
  if (Math.abs(quotient - Math.round(quotient)) > Math.abs(quotient) * rounding) return false;
  return isExactMultiple(decimalOf(value), decimalOf(of));
}

/** More than three roundings to 53 bits can make of a quotient. */
const rounding = 1e-15;

interface Decimal {
  readonly digits: bigint;
  /** Of ten. */
  readonly exponent: number;
}

function isExactMultiple(value: Decimal, of: Decimal): boolean {
  const least = Math.min(value.exponent, of.exponent);
  const scaled = ({ digits, exponent }: Decimal) => digits * 10n ** BigInt(exponent - least);
  return scaled(value) % scaled(of) === 0n;
}

/** Of the shortest text that stands for this number: `4.35`, `1e-7`, `1.5e+21`. */
function decimalOf(number: number): Decimal {
  const [mantissa = "", power = "0"] = String(number).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
