import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RelayProcess } from "./testing/relay-process.ts";

let directory: string;
const started: RelayProcess[] = [];
const start = (...flags: string[]) => {
  const relay = new RelayProcess("--data", join(directory, "data"), ...flags);
  started.push(relay);
  return relay;
};
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "handfast-main-"));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((relay) => relay.stop("SIGKILL")));
  await rm(directory, { recursive: true });
});

describe("npm start", () => {
  it("prints address, store, mode and the next command, and warns loudly of development mode", async () => {
    const relay = start("--port", "0");
    const url = await relay.url();
    expect(relay.stdout).toContain(`relay ${url} · store ${join(directory, "data")} · DEVELOPMENT MODE`);
    expect(relay.stdout).toContain(`next: curl -s ${url}/v1/tokens --json '{"agent":"alice-'$RANDOM'"}'`);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await relay.stop("SIGTERM")).toBe(0);
    expect(relay.stderr).toContain("DEVELOPMENT MODE: whoever calls first");
  });

  it("in production puts the operator's token into a file of its own and asks for it", async () => {
    const relay = start("--port", "0", "--production");
    const url = await relay.url();
    const file = join(directory, "data", "operator-token");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(relay.stdout).toContain(file);
    expect(relay.stderr).not.toContain("DEVELOPMENT");
    const headers = { "content-type": "application/json" };
    const got = await fetch(`${url}/v1/tokens`, { method: "POST", headers, body: '{"agent":"alice"}' });
    expect(got.status).toBe(403);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
  });

  it("tells where it listens besides the public URL, and names the token's file that was configured", async () => {
    const file = join(directory, "token");
    await writeFile(file, "a-token-of-the-operator-for-tests", { mode: 0o600 });
    const relay = start("--port", "0", "--public-url", "https://relay.example", "--operator-token-file", file);
    expect(await relay.url()).toBe("https://relay.example");
    expect(relay.stdout).toMatch(/^relay https:\/\/relay.example · listens on http:\/\/127.0.0.1:[0-9]+ · store /);
    expect(relay.stdout).toContain(`Bearer $(cat ${file})`);
  });

  it("says clearly that the port, or the store, is taken", async () => {
    const first = start("--port", "0");
    const { port } = new URL(await first.url());
    const same = new RelayProcess("--data", join(directory, "other"), "--port", port);
    expect(await same.ended()).toBe(69);
    expect(same.stderr).toContain(`The port ${port} is taken by another process`);
    expect(existsSync(join(directory, "other"))).toBe(false);
    const second = start("--port", "0");
    expect(await second.ended()).toBe(69);
    expect(second.stderr).toContain("in use by another relay");
  });

  it("logs no payload, key or credential, at any level", async () => {
    const relay = start("--port", "0", "--log-level", "trace");
    const url = await relay.url();
    const post = async (path: string, body: object, token = "") => {
      const headers = {
        "content-type": "application/json",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      };
      return (await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    const capabilities = [{ name: "keep" }];
    const { token } = (await post("/v1/tokens", { agent: "secretive", capabilities })) as { token: string };
    await post("/v1/handoffs", { capability: "keep", text: "the secret text" }, token);
    await post("/v1/handoffs", { capability: "keep", text: "the secret text", secretive_field: 1 }, token);
    await relay.stop("SIGTERM");
    expect(relay.stderr).toContain('"operation":"submit"');
    expect(relay.stderr).not.toContain("secret text");
    expect(relay.stderr).not.toContain(token);
  });

  it("explains a flag that it does not know", async () => {
    const relay = start("--prot", "1");
    expect(await relay.ended()).toBe(78);
    expect(relay.stderr).toContain("--port");
  });
});
