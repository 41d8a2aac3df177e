/** Connecting, on good days and bad ones. */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { toBase64url } from "@handfast/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readConfiguration } from "../../relay/src/configuration/read-configuration.ts";
import { type RunningRelay, startRelay } from "../../relay/src/relay.ts";
import { operator_token, TestRelay } from "../../relay/src/testing/test-relay.ts";
import type { Client } from "./client.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { HandfastError, HandoffError, RelayUnreachable, UsageError } from "./errors.ts";
import { realSurroundings } from "./surroundings.ts";

const clients: Client[] = [];
let home: string;
let relay: TestRelay;
let names = 0;

beforeAll(async () => {
  relay = await TestRelay.start();
});
afterAll(() => relay.stop());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "handfast-home-"));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await rm(home, { recursive: true });
});

/** No two tests meet under one name. */
function newName(): string {
  names += 1;
  return `agent-${names}`;
}

function newSeed(): string {
  return toBase64url(realSurroundings.randomBytes(32));
}

async function open(options: ConnectOptions = {}): Promise<Client> {
  const client = await connect({ url: relay.url, home, ...options });
  clients.push(client);
  return client;
}

async function refusalOf(options: ConnectOptions): Promise<HandfastError> {
  const error = await open(options).then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof HandfastError)) throw new Error(`no error of the client: ${String(error)}`);
  expect(error.remedy).not.toBe("");
  expect(error.docs).toMatch(/^docs\/errors\.md#/);
  return error;
}

describe("the agent's key", () => {
  test("is made on first use, for its owner only, and found again", async () => {
    const agent = newName();
    const first = await open({ agent });
    const file = join(home, "keys", `${agent}.json`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ kty: "OKP", crv: "Ed25519" });
    expect((await open({ agent })).key).toBe(first.key);
    expect(await readdir(join(home, "keys"))).toEqual([`${agent}.json`]);
  });

  test("is one key, though many processes make it at once", async () => {
    const agent = newName();
    const mod = new URL("./mod.ts", import.meta.url).href;
    const code = `
      const { connect } = await import(${JSON.stringify(mod)});
      const client = await connect(${JSON.stringify({ url: relay.url, home, agent })});
      console.log(client.key);
      await client.close();`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
    const outputs = await Promise.all([run(), run(), run(), run()]);
    const keys = new Set(outputs.map(({ stdout }) => stdout.trim()));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toHaveLength(43);
    expect(await readdir(join(home, "keys"))).toEqual([`${agent}.json`]);
  });

  test("may be given as a seed, a JWK, the text of one, or a file", async () => {
    const agent = newName();
    const { key } = await open({ agent });
    const file = join(home, "keys", `${agent}.json`);
    const text = await readFile(file, "utf8");
    const jwk = JSON.parse(text);
    for (const given of [jwk.d, jwk, text, file]) expect((await open({ agent, key: given })).key).toBe(key);
  });

  test("is not taken from a file that others may read", async () => {
    const agent = newName();
    await open({ agent });
    const file = join(home, "keys", `${agent}.json`);
    await chmod(file, 0o644);
    const error = await refusalOf({ agent });
    expect(error).toMatchObject({ reason: "key_open_to_others", name: "UsageError" });
    expect(error.message).toContain("0644");
    expect(error.remedy).toContain(`chmod 600 ${file}`);
  });

  test.each([
    ["a public key", { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }, "no d"],
    ["halves that do not belong together", { kty: "OKP", crv: "Ed25519", x: newSeed(), d: newSeed() }, "do not belong"],
    ["another curve", { kty: "EC", crv: "P-256", x: "", d: "" }, "not an Ed25519 key"],
    ["a file that is not there", "/nowhere/key.json", "no key file"],
    ["broken JSON", '{"kty": "OKP", "d": "very-secret', "not JSON"],
  ])("is refused when it is %s, without being shown", async (_what, key, says) => {
    const error = await refusalOf({ agent: newName(), key: key as string });
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toContain(says);
    expect(`${error.message} ${error.remedy}`).not.toContain("very-secret");
  });

  test("in an unreadable file is told by the path", async () => {
    const file = join(home, "key");
    await writeFile(file, "what is this", { mode: 0o600 });
    expect((await refusalOf({ agent: newName(), key: file })).message).toContain(file);
  });
});

describe("a relay", () => {
  test("that is not there is told of after the patience, with what to do", async () => {
    const error = await refusalOf({ url: "http://127.0.0.1:9", agent: newName(), patience: "200ms" });
    expect(error).toBeInstanceOf(RelayUnreachable);
    expect(error.message).toContain("http://127.0.0.1:9");
    expect(error.remedy).toMatch(/handfast start.*HANDFAST_URL/);
  });

  test("that starts a moment later is waited for", async () => {
    const late = await TestRelay.start();
    try {
      const { url } = late;
      await late.pause();
      const opening = open({ url, agent: newName() });
      await late.resume();
      expect((await opening).url).toBe(url);
      await Promise.all(clients.splice(0).map((client) => client.close()));
    } finally {
      await late.stop();
    }
  });

  test.each([
    [200, "<html>hello</html>"],
    [404, "not here"],
    [200, '{"hello":"world"}'],
  ])("that is another program (%d, %s) is told of at once", async (status, body) => {
    const server = createServer((_request, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const error = await refusalOf({ url: `http://127.0.0.1:${port}`, agent: newName() });
      expect(error.reason).toBe("not_a_relay");
      expect(error.remedy).toContain("HANDFAST_URL");
    } finally {
      server.close();
    }
  });

  test.each(["/v1", "/foo/", "/v1/connect"])("is told of by its own address where %s is behind it", async (path) => {
    const error = await refusalOf({ url: relay.url + path, agent: newName() });
    expect([error.name, error.reason]).toEqual(["UsageError", "not_a_relay"]);
    expect(error.message).toContain(`${relay.url}${path.replace(/\/$/, "")}, but`);
    expect(error.remedy).toContain(`without a path: ${relay.url}.`);
  });

  test.each(["ftp://relay.example", "relay.example", "http://user:secret@relay.example", "http://h/?a=b"])(
    "at %s is no URL of a relay",
    async (url) => expect(await refusalOf({ url, agent: newName() })).toBeInstanceOf(UsageError),
  );

  test("is found as localhost and as 127.0.0.1", async () => {
    const { port } = new URL(relay.url);
    const client = await open({ url: `http://localhost:${port}`, agent: newName() });
    expect((await client.call("agents", {})).agents.length).toBeGreaterThan(0);
  });

  test("of another namespace is told by both names", async () => {
    const error = await refusalOf({ agent: newName(), namespace: "elsewhere" });
    expect(error.message).toContain("default, not elsewhere");
  });

  test("whose clock is far from this one's is told of, and what to set", async () => {
    const hour_ms = 3_600_000;
    for (const off_ms of [hour_ms, -hour_ms]) {
      const surroundings = { ...realSurroundings, now: () => Date.now() + off_ms };
      const key = newSeed();
      const agent = newName();
      await open({ agent, key });
      const error = await refusalOf({ agent, key, surroundings });
      expect(error.reason).toBe(off_ms > 0 ? "credential_from_the_future" : "credential_expired");
      expect(error.remedy).toContain("clock");
    }
  });
});

describe("a name", () => {
  test("that belongs to another key is not given, and the ways out are named", async () => {
    const agent = newName();
    const { key: theirs } = await open({ agent });
    const error = await refusalOf({ agent, key: newSeed() });
    expect(error).toMatchObject({ code: 403, reason: "name_taken" });
    expect(error.message).toContain(theirs);
    expect(error.remedy).toMatch(/HANDFAST_AGENT.*HANDFAST_KEY.*handfast agents forget/);
  });

  test("that is not the key's is refused, and the right one is told", async () => {
    const agent = newName();
    const key = newSeed();
    await open({ agent, key });
    const error = await refusalOf({ agent: newName(), key });
    expect(error).toMatchObject({ code: 401, reason: "wrong_issuer" });
    expect(error.message).toContain(agent);
    expect(error.remedy).toContain("HANDFAST_AGENT");
  });

  test.each(["", "two words", "a@b", "-dash", "x".repeat(129)])("%j is no name", async (agent) => {
    const error = await refusalOf({ agent });
    expect(error).toBeInstanceOf(UsageError);
    expect(error.remedy).toContain("HANDFAST_AGENT");
  });

  test("that nobody may have is refused", async () => {
    expect(await refusalOf({ agent: "operator" })).toMatchObject({ reason: "name_reserved" });
  });
});

describe("a token", () => {
  test("stands for its agent, without a key", async () => {
    const { name, token } = await relay.agent(newName());
    const client = await open({ token });
    expect([client.agent, client.key]).toEqual([name, null]);
  });

  test("of another agent than the one named is refused", async () => {
    const { name, token } = await relay.agent(newName());
    const error = await refusalOf({ token, agent: "somebody-else" });
    expect(error.message).toBe(`The token is ${name}'s, not somebody-else's.`);
  });

  test("that the relay does not know is refused, and what to set is told", async () => {
    const error = await refusalOf({ token: `hft_${newSeed()}` });
    expect(error).toMatchObject({ code: 401, reason: "unknown_token" });
    expect(error.remedy).toContain("HANDFAST_TOKEN");
  });

  test("of the operator connects as the operator", async () => {
    const client = await open({ token: operator_token });
    expect(client.agent).toBe("operator");
    expect((await client.call("list", {})).handoffs).toEqual([]);
  });

  test("lets its agent offer capabilities", async () => {
    const { name, token } = await relay.agent(newName());
    const client = await open({ token });
    await client.base.offer([{ name: "echo" }]);
    expect((await client.call("agent", { params: { name } })).capabilities).toEqual([{ name: "echo" }]);
  });
});

describe("a relay that admits only whom its operator named", () => {
  let strict: RunningRelay;
  let directory: string;

  async function start(...flags: string[]): Promise<RunningRelay> {
    const argv = ["--port", "0", "--data", directory, "--log-level", "silent", "--production", ...flags];
    const asked = readConfiguration(argv, { HANDFAST_OPERATOR_TOKEN: operator_token }, directory);
    if (asked.kind !== "start") throw new Error("the test asked for help");
    return startRelay(asked.configuration);
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "handfast-strict-"));
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await strict.stop();
    await rm(directory, { recursive: true });
  });

  test("refuses a new key, and says what its operator must set; then takes it", async () => {
    strict = await start();
    const key = newSeed();
    const error = await refusalOf({ url: strict.url, agent: "ann", key });
    expect(error).toBeInstanceOf(HandoffError);
    expect(error).toMatchObject({ code: 403, reason: "not_admitted" });
    const [entry] = /ann=[\w-]{43}/.exec(error.remedy) ?? [];
    await strict.stop();
    strict = await start("--admit", String(entry));
    expect((await open({ url: strict.url, agent: "ann", key })).agent).toBe("ann");
  });

  test("takes a key that comes with the operator's token, and from then on without it", async () => {
    strict = await start();
    const options = { url: strict.url, agent: "ann", key: newSeed() };
    expect((await open({ ...options, token: operator_token })).key).toHaveLength(43);
    expect((await open(options)).agent).toBe("ann");
  });

  test("under another URL than the one it is reached by is told by both", async () => {
    strict = await start("--public-url", "https://relay.example");
    const url = strict.listens_on;
    const error = await refusalOf({ url, agent: "ann" });
    expect(error.reason).toBe("wrong_audience");
    expect(error.message).toContain(url);
    expect(error.message).toContain("https://relay.example");
    expect(error.remedy).toContain("public_urls");
  });
});

test("a relay that is called too fast is given time, as it asks", async () => {
  const slow = await TestRelay.start({ flags: ["--requests-per-second", "20", "--request-burst", "5"] });
  try {
    const client = await connect({ url: slow.url, agent: "ann", key: newSeed(), transport: "http" });
    const calls = Array.from({ length: 15 }, () => client.call("agents", {}));
    expect(await Promise.all(calls)).toHaveLength(15);
    await client.close();
  } finally {
    await slow.stop();
  }
});

test("connecting is given up when its signal says so", async () => {
  const reason = new Error("never mind");
  const signal = AbortSignal.timeout(100);
  await expect(connect({ url: "http://127.0.0.1:9", home, agent: newName(), signal })).rejects.toThrow();
  await expect(connect({ url: relay.url, home, agent: newName(), signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
});

test("a script that never closes its client ends when it has nothing more to wait for", async () => {
  const mod = new URL("./mod.ts", import.meta.url).href;
  const code = `
    const { connect } = await import(${JSON.stringify(mod)});
    const client = await connect(${JSON.stringify({ url: relay.url, home, agent: newName() })});
    const { agents } = await client.call("agents", {});
    console.log(agents.length > 0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
    timeout: 30_000,
  });
  expect(stdout.trim()).toBe("true");
});
