/** Loaded before the relay (`--import`): changes those places of its source that the bug to be put back is about. */

import { type LoadFnOutput, registerHooks } from "node:module";
import { type Bug, putBackVariable } from "./put-back.ts";

const { changes }: Bug = JSON.parse(process.env[putBackVariable] ?? "");

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = changes.filter(({ file }) => url.endsWith(`/packages/${file}`));
    if (own.length === 0) return loaded;
    let source = textOf(loaded.source);
    for (const { file, sound, broken } of own) {
      // A place that is gone, or there twice, would leave the relay sound and the test blind.
      if (source.split(sound).length !== 2) throw new Error(`${file} does not have exactly once: ${sound}`);
      source = source.replace(sound, () => broken);
    }
    return { ...loaded, source };
  },
});

function textOf(source: LoadFnOutput["source"]): string {
  if (source === undefined || source === null) throw new Error("there is no source to change");
  return typeof source === "string" ? source : new TextDecoder().decode(source);
}
