/** A peer that cannot be had or started here: it is told with its reason, and has no figures. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

export function reasonOf(error: unknown): string {
  const [line = "unknown"] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}
