import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { TestRelay } from "../../testing/test-relay.ts";

let relay: TestRelay;

/** Asks so often over one connection without reading, and then how many were answered and how many turned away. */
async function unread(path: string, token: string, times: number): Promise<Record<string, number>> {
  const { hostname, port, host } = new URL(relay.url);
  const silent = connect(Number(port), hostname);
  const head = [`GET ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`];
  silent.write(`${head.join("\r\n")}\r\n\r\n`.repeat(times));
  await once(silent, "readable");
  const counts: Record<string, number> = {};
  let [told, rest] = [0, ""];
  for await (const piece of silent as AsyncIterable<Buffer>) {
    const text = rest + piece.toString("latin1");
    let end = 0;
    for (const { 0: line, 1: status = "", index } of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      counts[status] = (counts[status] ?? 0) + 1;
      told += 1;
      end = index + line.length;
    }
    if (told === times) break;
    // A line may come in two pieces.
    rest = text.slice(Math.max(end, text.length - "HTTP/1.1 20".length));
  }
  return counts;
}
afterEach(() => relay.stop());

it("a reply that nobody takes keeps others from nothing, its own caller from room, and is cut", async () => {
  relay = await TestRelay.start({ limits: { output_bytes_per_caller: 1_000_000, reply_drain_ms: 300 } });
  const sender = await relay.agent("asking");
  const worker = await relay.agent("working");
  for (let count = 0; count < 16; count += 1) {
    const id = await sender.submit({ to: "working", input: count });
    const { fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    await worker.act(id, "complete", { fence, output: "x".repeat(900_000) });
  }
  const { hostname, port, host } = new URL(relay.url);
  const silent = connect(Number(port), hostname);
  silent.on("error", () => {});
  const head = ["GET /v1/outcomes HTTP/1.1", `host: ${host}`, `authorization: Bearer ${sender.token}`];
  silent.write(`${head.join("\r\n")}\r\n\r\n`);
  await once(silent, "readable");
  expect((await worker.get("/v1/outcomes")).status).toBe(200);
  const { status, text } = await sender.get("/v1/outcomes");
  expect(status).toBe(200);
  const ended = once(silent, "close");
  let got = 0;
  silent.on("data", (piece: Buffer) => {
    got += piece.length;
  });
  await ended;
  expect(got).toBeLessThan(text.length);
});

it("of what agents offer and agree on no more is made for a caller than it takes, however often it asks", async () => {
  relay = await TestRelay.start({ limits: { output_bytes_per_caller: 1_000_000, replies_waiting_per_caller: 4 } });
  const input_schema = { type: "object", description: "x".repeat(60_000) };
  const offered = ["one", "two", "three"].map((name) => ({ name, tags: ["work"], input_schema }));
  const provider = await relay.agent("provider", ...offered);
  const asker = await relay.agent("asker");
  const { negotiation_id, offers } = (await asker.post("/v1/negotiations", { tags: ["work"] })).body;
  const { contract_id } = (await asker.post("/v1/contracts", { offer_id: offers[0].offer_id })).body;
  const { manifests } = (await provider.get("/v1/agents/provider/manifests")).body;
  const paths = [
    "/v1/discovery/provider",
    "/v1/discovery/provider/agent-card.json",
    `/v1/manifests/${manifests[0].digest}`,
    `/v1/negotiations/${negotiation_id}`,
    `/v1/contracts/${contract_id}`,
  ];
  for (const path of paths) {
    const { 200: answered = 0, 429: turned_away = 0 } = await unread(path, asker.token, 200);
    expect([path, answered + turned_away, answered > 0, turned_away > 0]).toEqual([path, 200, true, true]);
  }
});
