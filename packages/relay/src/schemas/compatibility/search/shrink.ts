/** Makes a counterexample smaller while it stays one: less in it, shorter strings, plainer numbers. */

const plain_numbers = [0, 1, -1];

/** `stays` is asked at most `tries` times; the last that it agreed to is the smallest. */
export function shrink(value: unknown, stays: (value: unknown) => boolean, tries: number): void {
  let steps = smaller(value);
  for (let n = 0; n < tries; n++) {
    const step = steps.next();
    if (step.done === true) return;
    if (stays(step.value)) steps = smaller(step.value);
  }
}

/** Values that are a step smaller, the boldest steps first. */
function* smaller(value: unknown): Generator<unknown> {
  if (typeof value === "number") {
    const simpler = plain_numbers.slice(0, plain_numbers.includes(value) ? plain_numbers.indexOf(value) : undefined);
    yield* simpler;
    if (!Number.isInteger(value)) yield Math.trunc(value);
  } else if (typeof value === "string") yield* shorter(value);
  else if (Array.isArray(value)) yield* smallerArrays(value);
  else if (typeof value === "object" && value !== null) yield* smallerObjects(value);
}

function* shorter(text: string): Generator<string> {
  if (text === "") return;
  const chars = [...text];
  yield "";
  if (chars.length > 2) yield chars.slice(0, chars.length / 2).join("");
  yield chars.slice(1).join("");
  yield chars.slice(0, -1).join("");
}

function* smallerArrays(items: readonly unknown[]): Generator<unknown> {
  if (items.length > 0) yield [];
  if (items.length > 2) yield items.slice(0, items.length / 2);
  for (const index of items.keys()) yield items.toSpliced(index, 1);
  for (const [index, item] of items.entries()) for (const less of smaller(item)) yield items.with(index, less);
}

function* smallerObjects(value: object): Generator<unknown> {
  const members = Object.entries(value);
  if (members.length > 0) yield {};
  for (const [name] of members) yield Object.fromEntries(members.filter(([each]) => each !== name));
  for (const [name, member] of members) for (const less of smaller(member)) yield { ...value, [name]: less };
}
