import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { TestRelay } from "../../testing/test-relay.ts";

let relay: TestRelay;
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
