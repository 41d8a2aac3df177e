/**
 * npm run test:openclaw: installs OpenClaw (650 MB, once) beside the tests, packs the plugin and installs it as a user would,
 * and runs the tests against real gateways. Words after it go to vitest, such as the name of one file.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { argv, execPath, exit, stderr } from "node:process";
import { installHost, installPlugin } from "./support/install.ts";

const root = join(import.meta.dirname, "../../..");
const say = (line: string) => stderr.write(`${line}\n`);

installHost(say);
installPlugin(say);
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const words = [vitest, "run", "--config", join(import.meta.dirname, "vitest.config.ts"), ...argv.slice(2)];
exit(spawnSync(execPath, words, { cwd: root, stdio: "inherit" }).status ?? 1);
