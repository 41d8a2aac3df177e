/**
 * Makes the engine import `observed-core.ts` where it asks for core. Must run before the engine is first imported, so a
 * thread imports this first and everything else dynamically.
 */

import { registerHooks } from "node:module";

const engine = new URL("../../../engine/", import.meta.url).href;
const observed = new URL("./observed-core.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@handfast/core" && context.parentURL?.startsWith(engine) === true
      ? { url: observed, shortCircuit: true }
      : next(specifier, context),
});
