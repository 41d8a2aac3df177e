/** A real relay on a free port with a real store, for tests. Every JSON reply is checked against its own schema. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Capability } from "@handfast/protocol";
import { problem } from "@handfast/protocol/wire";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Configuration } from "../configuration/configuration.ts";
import { readConfiguration } from "../configuration/read-configuration.ts";
import type { RelayLimits } from "../limits.ts";
import { operations } from "../operations/table.ts";
import { type RunningRelay, startRelay } from "../relay.ts";

export interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read replies as their readers do, without a type for each.
type Json = any;

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

export interface TestRelayOptions {
  readonly flags?: readonly string[];
  readonly limits?: Partial<RelayLimits>;
}

export const operator_token = "operator-token-for-tests-only";

export class TestRelay {
  readonly #directory: string;
  readonly #options: TestRelayOptions;
  #running: RunningRelay | null = null;
  /** A relay that comes back is found where it was. */
  #port = "0";

  private constructor(directory: string, options: TestRelayOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  static async start(options: TestRelayOptions = {}): Promise<TestRelay> {
    const relay = new TestRelay(await mkdtemp(join(tmpdir(), "handfast-relay-")), options);
    await relay.resume();
    return relay;
  }

  get directory(): string {
    return this.#directory;
  }

  /** Where it really listens, whatever its public URL. */
  get listens_on(): string {
    if (this.#running === null) throw new Error("the relay is not running");
    return this.#running.listens_on;
  }

  get url(): string {
    if (this.#running === null) throw new Error("the relay is not running");
    return this.#running.url;
  }

  #configuration(more: readonly string[]): Configuration {
    const flags = [...(this.#options.flags ?? []), ...more];
    const port = flags.includes("--port") ? [] : ["--port", this.#port];
    const mode = flags.includes("--production") ? [] : ["--dev"];
    const argv = [...port, "--data", this.#directory, "--log-level", "silent", ...mode, ...flags];
    const env = { HANDFAST_OPERATOR_TOKEN: operator_token };
    const asked = readConfiguration(argv, env, this.#directory);
    if (asked.kind !== "start") throw new Error("the test asked for help");
    return asked.configuration;
  }

  /** Stops in order, leaving the store. */
  async pause(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  /** On the same store again, with further flags. */
  async resume(...flags: readonly string[]): Promise<void> {
    const { limits } = this.#options;
    this.#running = await startRelay(this.#configuration(flags), limits === undefined ? {} : { limits });
    this.#port = new URL(this.#running.url).port;
  }

  async stop(): Promise<void> {
    await this.pause();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async call(method: string, path: string, sent: Sent = {}): Promise<Got> {
    const { token, body, raw, headers, signal } = sent;
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const isJson = /^application\/(problem\+)?json(;|$)/.test(response.headers.get("content-type") ?? "");
    const got = { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
    checkReply(method, path, got);
    return got;
  }

  get = (path: string, token?: string, headers?: Sent["headers"]) =>
    this.call("GET", path, {
      ...(token === undefined ? {} : { token }),
      ...(headers === undefined ? {} : { headers }),
    });
  post = (path: string, body: unknown, token?: string, headers?: Sent["headers"]) =>
    this.call("POST", path, {
      body,
      ...(token === undefined ? {} : { token }),
      ...(headers === undefined ? {} : { headers }),
    });

  /** A line of /metrics, such as `handfast_streams`. */
  async figure(name: string): Promise<number> {
    const { text } = await this.get("/metrics");
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  }

  /** A new agent with a token, and the calls it makes. */
  async agent(name: string, ...capabilities: (string | Capability)[]): Promise<TestAgent> {
    const offered = capabilities.map((each) => (typeof each === "string" ? { name: each } : each));
    const made = await this.post("/v1/tokens", { agent: name, capabilities: offered });
    if (made.status !== 201) throw new Error(`no token for ${name}: ${made.text}`);
    return new TestAgent(this, name, made.body.token);
  }
}

export class TestAgent {
  readonly relay: TestRelay;
  readonly name: string;
  readonly token: string;

  constructor(relay: TestRelay, name: string, token: string) {
    this.relay = relay;
    this.name = name;
    this.token = token;
  }

  get = (path: string, headers?: Sent["headers"]) => this.relay.get(path, this.token, headers);
  post = (path: string, body: unknown = {}, headers?: Sent["headers"]) =>
    this.relay.post(path, body, this.token, headers);

  /** The id of a handoff that was accepted. */
  async submit(body: Record<string, unknown>): Promise<string> {
    const got = await this.post("/v1/handoffs", body);
    if (got.status !== 202) throw new Error(`not accepted: ${got.text}`);
    return got.body.id;
  }

  /** The one lease that is waited for. */
  async claim(more: Record<string, unknown> = {}): Promise<Json> {
    const got = await this.post("/v1/claims", { worker: `${this.name}-1`, ...more }, { prefer: "wait=10" });
    if (got.body.leases?.length !== 1) throw new Error(`no lease: ${got.text}`);
    return got.body.leases[0];
  }

  /** An act on a handoff, such as ack or complete. */
  act = (id: string, act: string, body: unknown = {}) => this.post(`/v1/handoffs/${id}/${act}`, body);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const problemFits = ajv.compile(problem);
const fits = new Map<string, ValidateFunction>();

export function checkReply(
  method: string,
  path: string,
  { status, body, headers }: Pick<Got, "status" | "body" | "headers">,
): void {
  const type = headers.get("content-type") ?? "";
  const place = path.split("?", 1)[0] ?? "";
  if (type.includes("problem+json")) {
    if (!problemFits(body)) throw new Error(`not a problem: ${JSON.stringify(problemFits.errors)}`);
    return;
  }
  const operation = operations.find(
    (each) => each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(place),
  );
  if (operation === undefined || !type.includes("application/json")) return;
  const schema = operation.replies[status];
  if (schema === undefined) throw new Error(`${operation.name} answered ${status}, which it does not document`);
  if (schema === null) return;
  const key = `${operation.name} ${status}`;
  const validate = fits.get(key) ?? ajv.compile(schema);
  fits.set(key, validate);
  if (!validate(body)) throw new Error(`${key} does not fit its schema: ${JSON.stringify(validate.errors)}`);
}
