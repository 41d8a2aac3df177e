/** Where the tests find OpenClaw and the plugin as it was packed and installed. */

import { join } from "node:path";

const adapter = join(import.meta.dirname, "../..");

/** The folder with OpenClaw's own package.json and lock. */
export const host_folder = join(adapter, "test/host");
export const openclaw_program = join(host_folder, "node_modules/openclaw/openclaw.mjs");
/** Where the packed plugin is installed, as by a user. */
export const install_folder = join(adapter, ".openclaw/installed");
