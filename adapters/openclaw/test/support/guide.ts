/** The configuration that docs/frameworks/openclaw.md gives to copy: the tests run with it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { install_folder } from "./places.ts";

interface Guide {
  readonly plugins: {
    readonly entries: { readonly handfast: { readonly enabled: boolean; readonly config: Config } };
  };
}

interface Config {
  readonly capabilities: Readonly<Record<string, { readonly [setting: string]: unknown }>>;
}

const page = readFileSync(join(import.meta.dirname, "../../../../docs/frameworks/openclaw.md"), "utf8");
const block = /```json config\n([\s\S]*?)```/.exec(page)?.[1];
if (block === undefined) throw new Error("docs/frameworks/openclaw.md has no configuration to copy");

const guide: Guide = JSON.parse(block.replaceAll("FOLDER", install_folder));

export const guide_config = guide.plugins.entries.handfast.config;

/** The block as it is, with a configuration of the plugin over the guide's. */
export function pluginsWith(config: object): object {
  const entries = { handfast: { enabled: true, config: { ...guide_config, ...config } } };
  return { ...guide.plugins, entries };
}
