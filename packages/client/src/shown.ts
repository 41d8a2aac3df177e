/** A value as an error shows it, whatever it is: an error about a wrong value must not fail by that value. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // A BigInt, an object that contains itself, or one that throws when it is looked at.
    return typeof value === "bigint" ? `${value}n` : `a ${typeof value} that cannot be shown`;
  }
}
