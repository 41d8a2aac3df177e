/** A guide on ports that are free on this machine. */

import type { Guide } from "./guide.ts";
import { freePort } from "./relay-process.ts";

/** The guide's ports are most often taken here: others stand in for them, in what is typed and in what is printed. */
export async function onFreePorts(
  guide: Guide,
): Promise<{ guide: Guide; env: NodeJS.ProcessEnv; shown(text: string): string }> {
  const ports = new Map<string, string>();
  for (const port of ["7420", "7421", "7422", "7423"]) ports.set(port, String(await freePort()));
  const exchange = (text: string, from: (pair: [string, string]) => [string, string]) =>
    [...ports].map(from).reduce((done, [old, other]) => done.replaceAll(old, other), text);
  const typed = (text: string) => exchange(text, (pair) => pair);
  return {
    guide: {
      blocks: guide.blocks.map((block) => ({ ...block, text: typed(block.text) })),
      files: guide.files.map((file) => ({ ...file, text: typed(file.text) })),
    },
    env: { HANDFAST_PORT: ports.get("7420"), HANDFAST_URL: `http://127.0.0.1:${ports.get("7420")}` },
    shown: (text) => exchange(text, ([old, other]) => [other, old]),
  };
}
