/** The command as a process of its own, against a relay of the test. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { operator_token, TestRelay } from "../../../../relay/src/testing/test-relay.ts";

const bin = fileURLToPath(new URL("../../../bin/handfast.js", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Handfast {
  readonly relay: TestRelay;
  /** Of the processes: nothing of this machine's user is read or written. */
  readonly home: string;

  private constructor(relay: TestRelay, home: string) {
    this.relay = relay;
    this.home = home;
  }

  static async start(): Promise<Handfast> {
    return new Handfast(await TestRelay.start(), await mkdtemp(join(tmpdir(), "handfast-cli-")));
  }

  async stop(): Promise<void> {
    await this.relay.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  /** As the operator. */
  run(...words: readonly string[]): Promise<Ran> {
    return this.runAs(operator_token, ...words);
  }

  /** As whoever a token stands for. */
  async runAs(token: string, ...words: readonly string[]): Promise<Ran> {
    const child = this.spawn(token, words);
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => (stdout += String(piece)));
    child.stderr.on("data", (piece) => (stderr += String(piece)));
    await once(child, "close");
    return { code: child.exitCode, stdout, stderr };
  }

  spawn(token: string, words: readonly string[]) {
    const { NODE_COMPILE_CACHE = "" } = process.env;
    const home = { HOME: this.home, HANDFAST_HOME: this.home };
    const env = { NODE_COMPILE_CACHE, ...home, HANDFAST_URL: this.relay.url, HANDFAST_TOKEN: token };
    return spawn(execPath, [bin, ...words], { env, cwd: this.home, stdio: ["ignore", "pipe", "pipe"] });
  }
}
