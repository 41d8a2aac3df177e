/**
 * `node --import …/register.ts` with MUTANT_OF_HANDFAST=<name>: changes the relay's sources as they are loaded, in the
 * main thread and in its workers alike.
 */

import { registerHooks } from "node:module";
import { join, relative, sep } from "node:path";
import { env, stderr } from "node:process";
import { fileURLToPath } from "node:url";
import { mutants } from "./all.ts";
import { mutate } from "./mutant.ts";

const root = join(import.meta.dirname, "../../../..");
const name = env["MUTANT_OF_HANDFAST"];
const mutant = mutants.find((each) => each.name === name);
if (mutant === undefined) throw new Error(`MUTANT_OF_HANDFAST names no mutant: ${name ?? "it is not set"}.`);
const files = new Set(mutant.edits.map(({ file }) => file));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith("file:")) return loaded;
    const file = relative(root, fileURLToPath(url)).replaceAll(sep, "/");
    if (!files.has(file)) return loaded;
    const source = mutate(mutant, file, String(loaded.source));
    stderr.write(`mutant ${mutant.name}: ${file}\n`);
    return { ...loaded, source };
  },
});
