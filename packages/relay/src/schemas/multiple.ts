/**
 * `multipleOf`, exact for whole divisors. ajv divides and looks whether the quotient is whole, and then 5e-324 is a
 * multiple of 3, since the quotient underflows to 0; and a quotient from 1e21 on is taken for none.
 */
export function isMultiple(value: number, of: number): boolean {
  return Number.isInteger(of) ? value % of === 0 : Number.isInteger(value / of);
}
