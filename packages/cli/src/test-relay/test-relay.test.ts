import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { createInterface, type Interface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { bin } from "../testing/cli.ts";
import { isAlive } from "../testing/is-alive.ts";
import { call_header } from "./open-calls.ts";

/** What is read of its lines, whatever was asked for. */
interface Line {
  readonly url: string;
  readonly name: string;
  readonly operator_token: string;
  readonly now: number;
  readonly next: number;
  readonly running: boolean;
  readonly parked: number;
  readonly calls: { readonly stream?: number };
  readonly events: readonly { readonly type: string }[];
  readonly error: { readonly message: string; readonly remedy: string };
}

/** What is read of the relay's replies, of one operation or another. */
interface Reply {
  readonly token: string;
  readonly id: string;
  readonly state: string;
  readonly leases: readonly unknown[];
  readonly public_urls: readonly string[];
}

/** Another program that turns the clock. */
class Kit {
  readonly child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterableIterator<string>;
  #relay: Line | null = null;

  constructor(words: readonly string[] = []) {
    this.child = spawn(execPath, [bin, "test-relay", ...words]);
    const lines: Interface = createInterface({ input: this.child.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  static async start(...words: readonly string[]): Promise<Kit> {
    const kit = new Kit(words);
    kit.#relay = await kit.line();
    return kit;
  }

  get relay(): Line {
    if (this.#relay === null) throw new Error("it has not said where it is");
    return this.#relay;
  }

  async line(): Promise<Line> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("it has ended");
    return JSON.parse(value);
  }

  ask(order: object | string): Promise<Line> {
    this.child.stdin.write(`${typeof order === "string" ? order : JSON.stringify(order)}\n`);
    return this.line();
  }

  async reset(more: object = {}): Promise<void> {
    this.#relay = await this.ask({ do: "reset", ...more });
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<Line> {
    const { now } = await this.ask({ do: "settle" });
    return this.ask({ do: "run", to: now + ms });
  }

  fetch(method: string, path: string, { token, body, headers }: Sent = {}): Promise<Response> {
    return fetch(this.relay.url + path, {
      method,
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${token ?? this.relay.operator_token}`,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async call(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    return JSON.parse(await (await this.fetch(method, path, sent)).text());
  }

  async agent(name: string, ...capabilities: readonly string[]): Promise<string> {
    const body = { agent: name, capabilities: capabilities.map((each) => ({ name: each })) };
    return (await this.call("POST", "/v1/tokens", { body })).token;
  }

  async end(): Promise<number | null> {
    this.child.stdin.end();
    const [code] = this.child.exitCode === null ? await once(this.child, "close") : [this.child.exitCode];
    return code;
  }
}

interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const start = Date.UTC(2026, 0, 1);

let kit: Kit;
beforeAll(async () => {
  kit = await Kit.start();
});
afterAll(() => kit.end());
beforeEach(() => kit.reset());

test("it says where it is, by which name it is meant, and how it stands", async () => {
  expect(kit.relay).toMatchObject({ name: "http://relay.test", now: start, running: true, parked: 0, calls: {} });
  const about = await kit.call("GET", "/.well-known/handfast");
  expect(about.public_urls).toEqual(expect.arrayContaining([kit.relay.name, kit.relay.url]));
  expect(about.public_urls[0]).toBe(kit.relay.name);
});

test("time stands still until it is told to pass, and passes as far as it was told", async () => {
  expect((await kit.ask({ do: "settle" })).now).toBe(start);
  expect((await kit.ask({ do: "run", to: start + 1_234 })).now).toBe(start + 1_234);
  expect((await kit.ask({ do: "run", to: start })).now).toBe(start + 1_234);
});

test("a deadline passes at its own moment, whoever is told of it", async () => {
  const sender = await kit.agent("sender");
  await kit.agent("worker", "shout");
  const { id } = await kit.call("POST", "/v1/handoffs", { token: sender, body: { capability: "shout", input: 1 } });
  const read = () => kit.call("GET", `/v1/handoffs/${id}`, { token: sender });
  await kit.pass(15 * 60_000 - 1);
  expect((await read()).state).toBe("queued");
  await kit.pass(1);
  expect(await read()).toMatchObject({ state: "expired", ended_at: start + 15 * 60_000 });
  const { events } = await kit.ask({ do: "events", handoff: id });
  expect(events.map(({ type }) => type)).toEqual(["accepted", "expired"]);
});

test("a call that waits is parked, by the name it came with, and `next` is when it waits no longer", async () => {
  const worker = await kit.agent("worker", "shout");
  const headers = { prefer: "wait=20", [call_header]: "claim-1" };
  const body = { worker: "worker-1" };
  const waiting = kit.call("POST", "/v1/claims", { token: worker, body, headers });
  let state = await kit.ask({ do: "settle" });
  // It may still be on its way.
  while (state.parked === 0) state = await kit.ask({ do: "settle" });
  expect(state).toMatchObject({ parked: 1, calls: { "claim-1": 0 }, next: start + 20_000 });
  await kit.ask({ do: "run", to: state.next });
  expect((await waiting).leases).toEqual([]);
  expect(await kit.ask({ do: "settle" })).toMatchObject({ parked: 0, calls: {} });
});

test("of a stream it is told how much was sent", async () => {
  const sender = await kit.agent("sender");
  await kit.agent("worker", "shout");
  const { id } = await kit.call("POST", "/v1/handoffs", { token: sender, body: { capability: "shout", input: 1 } });
  const headers = { accept: "text/event-stream", [call_header]: "stream" };
  const response = await kit.fetch("GET", `/v1/handoffs/${id}/events`, { token: sender, headers });
  const { calls } = await kit.ask({ do: "settle" });
  await kit.call("POST", `/v1/handoffs/${id}/cancel`, { token: sender, body: {} });
  const text = await response.text();
  expect(text.slice(0, calls.stream)).toMatch(/event: accepted\n[\s\S]*\n\n$/);
  expect(text.slice(calls.stream)).toMatch(/^event: canceled\n/);
});

test("a call whose caller went away is no longer parked", async () => {
  const worker = await kit.agent("worker", "shout");
  const gone = new AbortController();
  const waiting = fetch(`${kit.relay.url}/v1/claims`, {
    method: "POST",
    headers: { authorization: `Bearer ${worker}`, "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify({ worker: "worker-1" }),
    signal: gone.signal,
  });
  while ((await kit.ask({ do: "settle" })).parked === 0);
  gone.abort();
  await expect(waiting).rejects.toThrow();
  while ((await kit.ask({ do: "settle" })).parked === 1);
});

describe("the relay goes away", () => {
  let sender: string;
  let id: string;
  const read = () => kit.fetch("GET", `/v1/handoffs/${id}`, { token: sender });
  beforeEach(async () => {
    sender = await kit.agent("sender");
    await kit.agent("worker", "shout");
    ({ id } = await kit.call("POST", "/v1/handoffs", { token: sender, body: { capability: "shout", input: 1 } }));
  });

  test("it comes back where it was, on what it knew, after the time it was away", async () => {
    expect(await kit.ask({ do: "restart", down_ms: 5_000 })).toMatchObject({ running: true, now: start + 5_000 });
    expect((await read()).status).toBe(200);
  });

  test("or it comes back empty", async () => {
    await kit.ask({ do: "restart_empty" });
    expect((await kit.ask({ do: "events" })).events).toEqual([]);
    expect((await read()).status).toBe(401);
  });

  test("between pause and resume nobody listens, and time can pass", async () => {
    expect((await kit.ask({ do: "pause" })).running).toBe(false);
    await expect(read()).rejects.toThrow();
    await kit.pass(10_000);
    expect(await kit.ask({ do: "resume" })).toMatchObject({ running: true, now: start + 10_000 });
    expect((await read()).status).toBe(200);
  });

  test("whoever waits is answered before it goes", async () => {
    const headers = { prefer: "wait=20" };
    const waiting = kit.call("GET", `/v1/handoffs/${id}?until=ended`, { token: sender, headers });
    while ((await kit.ask({ do: "settle" })).parked === 0);
    await kit.ask({ do: "pause" });
    expect((await waiting).state).toBe("queued");
  });

  test("after a reset nothing is left of it", async () => {
    const before = kit.relay.url;
    await kit.reset({ start_at: Date.UTC(2030, 0, 1) });
    expect(kit.relay).toMatchObject({ now: Date.UTC(2030, 0, 1) });
    expect(kit.relay.url).not.toBe(before);
    expect((await kit.ask({ do: "events" })).events).toEqual([]);
    expect((await read()).status).toBe(401);
  });
});

test("with the same seed every run is the same, with another it differs", async () => {
  async function tokenWith(seed: number): Promise<string> {
    await kit.reset({ seed });
    return kit.agent("worker", "shout");
  }
  const first = await tokenWith(7);
  expect(await tokenWith(7)).toBe(first);
  expect(await tokenWith(8)).not.toBe(first);
});

test.each([
  ["nonsense", "no JSON object"],
  ["[1]", "no JSON object"],
  ['{"do":"dance"}', 'nothing to do called "dance"'],
  ['{"do":"toString"}', 'nothing to do called "toString"'],
  ['{"do":"run"}', "to is missing"],
  ['{"do":"run","to":-1}', "to is -1"],
  ['{"do":"settle","now":1}', 'settle takes no "now"'],
])("%s is answered by what is wrong with it, and it goes on", async (line, message) => {
  const { error } = await kit.ask(line);
  expect(error.message).toContain(message);
  expect(error.remedy).not.toBe("");
  expect((await kit.ask({ do: "settle" })).running).toBe(true);
});

describe("it ends", () => {
  test("with the end of its input, having done what was written before it", async () => {
    const other = new Kit(["--seed", "3", "--start-at", "2030-05-01T12:00:00Z"]);
    other.child.stdin.end('{"do":"settle"}\n');
    expect((await other.line()).now).toBe(Date.UTC(2030, 4, 1, 12));
    expect((await other.line()).running).toBe(true);
    expect(await other.end()).toBe(0);
  });

  test("when it is told to, and when it gets a signal", async () => {
    const [told, signaled] = await Promise.all([Kit.start(), Kit.start()]);
    told.child.stdin.write('{"do":"stop"}\n');
    expect(await once(told.child, "close")).toEqual([0, null]);
    signaled.child.kill("SIGTERM");
    expect((await once(signaled.child, "close"))[0]).toBe(130);
  });

  test("when whoever started it was killed, though another process keeps its input open", async () => {
    // The first starts the relay and a process that inherits the relay's input, then it is killed.
    const script = `
      import { spawn } from "node:child_process";
      const relay = spawn(process.execPath, [${JSON.stringify(bin)}, "test-relay"], { stdio: ["pipe", "pipe", "inherit"] });
      const keeper = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", relay.stdin], detached: true });
      relay.stdout.once("data", () => console.log(JSON.stringify({ relay: relay.pid, keeper: keeper.pid })));`;
    const first = spawn(execPath, ["--input-type=module", "--eval", script]);
    const [line] = await once(first.stdout, "data");
    const { relay, keeper } = JSON.parse(String(line));
    onTestFinished(() => void process.kill(keeper, "SIGKILL"));
    first.kill("SIGKILL");
    while (isAlive(relay)) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAlive(keeper)).toBe(true);
  });
});

test("a moment that is none is refused before anything starts", async () => {
  const other = new Kit(["--start-at", "soon"]);
  other.child.stdin.end();
  const [code] = await once(other.child, "close");
  expect(code).toBe(64);
});
