/** How long a value is as JSON, about; what is longer than the limit is not measured to its end. */

export function sizeOf(value: unknown, most: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let size = 2;
  for (const [name, member] of Object.entries(value)) {
    size += (Array.isArray(value) ? 1 : name.length + 4) + sizeOf(member, most - size);
    if (size > most) break;
  }
  return size;
}
