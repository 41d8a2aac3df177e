/** Makes many of a thing, a few at a time: opening hundreds of connections at once would only make them wait in line. */

const at_once = 16;

export async function inTurn<T>(number: number, make: (nth: number) => Promise<T>): Promise<readonly T[]> {
  const made: T[] = [];
  for (let first = 0; first < number; first += at_once) {
    const size = Math.min(at_once, number - first);
    made.push(...(await Promise.all(Array.from({ length: size }, (_, nth) => make(first + nth)))));
  }
  return made;
}

export function at<T>(list: readonly T[], nth: number): T {
  const found = list[nth];
  if (found === undefined) throw new Error(`there are ${list.length}, not ${nth + 1}`);
  return found;
}
