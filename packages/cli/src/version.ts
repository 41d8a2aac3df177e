/** The version of this package, from its package.json, which is beside src and dist alike. */

import { readFileSync } from "node:fs";

const about: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

export const version =
  typeof about === "object" && about !== null && "version" in about ? String(about.version) : "unknown";
