/** A figure out of /metrics. */

/** 0 where nothing was counted yet. */
export function figureOf(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}
