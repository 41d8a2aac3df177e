/** What JSON the relay takes at all (strict JSON, @handfast/protocol): nothing else can come, whatever a schema allows. */

export const largest_number = Number.MAX_SAFE_INTEGER;

export function canBeName(name: string): boolean {
  return name !== "__proto__" && name.isWellFormed();
}

export function canCome(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) <= largest_number;
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => canBeName(name) && canCome(member));
}
