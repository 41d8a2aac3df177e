/** Calls of the relay by `curl` and nothing else: a token, plain bodies, long polls. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setting } from "./lines.ts";

const url = setting("HANDFAST_URL");
const wait_seconds = 20;

interface Reply {
  readonly status: number;
  // What a caller without an SDK has: JSON as it came.
  readonly body: Record<string, never> & { readonly [member: string]: unknown };
}

export interface CurlOptions {
  readonly body?: object;
  /** Up to `wait_seconds`, for what the call is about. */
  readonly wait?: boolean;
}

export class Caller {
  readonly #token: string;

  private constructor(token: string) {
    this.#token = token;
  }

  /** By a token of its own, made on first use and kept for the next life. */
  static async as(agent: string, capabilities?: readonly object[]): Promise<Caller> {
    const file = `token-${agent}`;
    if (!existsSync(file)) {
      const { body } = await curl(["-X", "POST", `${url}/v1/tokens`], { body: { agent } });
      writeFileSync(file, String(body["token"]), { mode: 0o600 });
    }
    const caller = new Caller(readFileSync(file, "utf8"));
    if (capabilities !== undefined)
      await caller.call("PUT", `/v1/agents/${agent}/capabilities`, { body: { capabilities } });
    return caller;
  }

  call(method: string, path: string, options: CurlOptions = {}): Promise<Reply> {
    return curl(["-X", method, "-H", `authorization: Bearer ${this.#token}`, `${url}${path}`], options);
  }
}

function curl(args: readonly string[], { body, wait }: CurlOptions): Promise<Reply> {
  const sent = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
  const patience = wait ? ["-H", `prefer: wait=${wait_seconds}`] : [];
  const all = ["-s", "-w", "\n%{http_code}", ...patience, ...sent, ...args];
  return new Promise((resolve, reject) => {
    execFile("curl", all, { maxBuffer: 16_000_000 }, (error, printed) => {
      if (error !== null) return reject(error);
      const at = printed.lastIndexOf("\n");
      const text = printed.slice(0, at);
      resolve({ status: Number(printed.slice(at + 1)), body: text === "" ? {} : JSON.parse(text) });
    });
  });
}
