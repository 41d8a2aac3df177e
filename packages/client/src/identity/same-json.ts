/** Whether two values are the same JSON, whatever the order of their members. */

export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [membersOf(one), membersOf(other)];
  return left.length === right.length && left.every(([key, value]) => key in other && isSameJson(value, other[key]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** What JSON would leave out is no member. */
function membersOf(value: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
