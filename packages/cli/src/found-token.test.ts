/** An operator's token that lies about in a data directory: for whom it is used, and for whom it is not. */

import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startServer } from "../../store-postgres/src/testing/server.ts";
import { Cli, type CliProcess } from "./testing/cli.ts";

let cli: Cli;
let own: CliProcess;
let own_url: string;
const strangers: Server[] = [];

async function startRelay(
  ...words: readonly string[]
): Promise<{ readonly process: CliProcess; readonly url: string }> {
  const process = cli.spawn(["start", "--port", "0", "--production", ...words]);
  const [, url = ""] = await process.said(/^relay (\S+) /m);
  return { process, url };
}

beforeAll(async () => {
  cli = await Cli.make();
  ({ process: own, url: own_url } = await startRelay());
});
afterEach(() => {
  for (const server of strangers.splice(0)) server.close();
});
afterAll(() => cli.stop());

/** Says of itself what the relay at `like` says, under its own address; remembers how it was called. */
async function startStranger(like: string): Promise<{ readonly url: string; readonly calls: readonly string[] }> {
  const calls: string[] = [];
  const about = (await (await fetch(`${like}/.well-known/handfast`)).json()) as object;
  const server = createServer(({ url: path = "", headers }, response) => {
    calls.push(`${path} ${headers.authorization ?? ""}`);
    const is_known = path === "/.well-known/handfast";
    const body = is_known ? { ...about, public_urls: [url], websocket_urls: [] } : {};
    response.writeHead(is_known ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  strangers.push(server);
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, calls };
}

it("is used for the relay whose data directory it lies in", async () => {
  for (const url of [own_url, `${own_url}/`, own_url.replace("127.0.0.1", "localhost")]) {
    expect(await cli.run(["list"], { env: { HANDFAST_URL: url } })).toMatchObject({ code: 0 });
  }
});

it("is used for every node on the database of the one in whose data directory it lies, and for no other relay", async () => {
  const server = await startServer({ durable: true });
  try {
    const store = server.url(await server.createDatabase());
    const data = join(cli.folder, "node-1");
    const nodes = [
      await startRelay("--store", store, "--data", data),
      await startRelay("--store", store, "--data", join(cli.folder, "node-2")),
    ];
    const env = { HANDFAST_DATA: data };
    for (const { url } of nodes) expect((await cli.run(["nodes", "--url", url], { env })).code).toBe(0);
    expect((await cli.run(["nodes", "--url", own_url], { env })).code).toBe(77);
    await Promise.all(nodes.map(({ process }) => process.stop()));
  } finally {
    await server.stop();
  }
}, 60_000);

it("is not sent to another relay, which is called with the key", async () => {
  const other = await startRelay("--data", join(cli.folder, "other"));
  const { code, stderr } = await cli.run(["list", "--url", other.url]);
  expect([code, stderr]).toEqual([77, expect.stringContaining("is not admitted")]);

  const stranger = await startStranger(other.url);
  await cli.run(["list", "--url", stranger.url]);
  const token = (await readFile(join(cli.folder, ".handfast", "operator-token"), "utf8")).trim();
  expect(stranger.calls.length).toBeGreaterThan(1);
  expect(stranger.calls.join("\n")).not.toContain(token);
  await other.process.stop();
});

it("costs one look at the relay, and none where somebody is named", async () => {
  const other = await startRelay("--data", join(cli.folder, "another"));
  const looks = async (...words: readonly string[]) => {
    const stranger = await startStranger(other.url);
    await cli.run([...words, "--url", stranger.url]);
    return stranger.calls.filter((call) => call.startsWith("/.well-known/handfast ")).length;
  };
  const connecting = await looks("list", "--agent", "somebody");
  expect(await looks("list")).toBe(connecting + 1);
  expect(await looks("send", "upper", "1")).toBe(connecting);
  await other.process.stop();
});

it("is used for a relay that is just starting, too", async () => {
  await own.stop();
  await rm(join(cli.folder, "home"), { recursive: true, force: true });
  const asking = cli.run(["list", "--patience", "30s"], { env: { HANDFAST_URL: own_url } });
  own = cli.spawn(["start", "--port", new URL(own_url).port, "--production"]);
  expect(await asking).toMatchObject({ code: 0 });
});

it("of a relay that is away says so, after the patience", async () => {
  await own.stop();
  const { code, stderr } = await cli.run(["list", "--patience", "300ms"], { env: { HANDFAST_URL: own_url } });
  expect([code, stderr]).toEqual([69, expect.stringMatching(/No relay answered at \S+ for 0\.3 s \(.*ECONNREFUSED/)]);
});
