/** Streamed output over several nodes: whoever the worker speaks to, and wherever it is read. */

import type { Handoff } from "@handfast/core";
import { wakeKey } from "@handfast/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { failing, holderOf, Node, namespace } from "./testing/nodes.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const started: Node[] = [];
afterEach(async () => {
  const nodes = started.splice(0);
  await Promise.all(nodes.map((node) => node.stop()));
  expect(nodes.flatMap(({ bugs }) => bugs)).toEqual([]);
});
const patience_ms = 20_000;

async function startNodes(limits = {}): Promise<readonly [Node, Node, Node]> {
  const url = server.url(await server.createDatabase());
  const nodes = await Promise.all([1, 2, 3].map(() => Node.start(url, { limits })));
  started.push(...nodes);
  const [one, other, reader] = nodes;
  if (!one || !other || !reader) throw new Error("too few nodes");
  return [one, other, reader];
}

async function leased(node: Node): Promise<Handoff> {
  await node.submit();
  const [handoff] = await node.claim("bob-1", { wait_ms: patience_ms });
  if (handoff === undefined) throw new Error("nothing was leased");
  await node.ack(handoff);
  return handoff;
}

const write = (node: Node, handoff: Handoff, offset: number, text: string) =>
  node.engine.chunks.write(handoff, holderOf(handoff), offset, text);

/** Reads on until so much has come. */
async function readTo(node: Node, id: string, end: number): Promise<string> {
  let text = "";
  while (text.length < end) {
    const woken = node.engine.wakeups.wait(wakeKey.handoff(namespace, id), patience_ms);
    const found = await node.engine.chunks.read(namespace, id, text.length);
    expect(found === null || found.offset === text.length).toBe(true);
    if (found === null || found.text === "") await woken;
    else text += found.text;
  }
  return text;
}

test("written through one node and then another, read on a third as it comes, in order", async () => {
  const [one, other, reader] = await startNodes();
  const handoff = await leased(one);
  const words = Array.from({ length: 200 }, (_, nth) => `word ${nth} 😀 `);
  const whole = words.join("");
  const reading = readTo(reader, handoff.accepted.id, whole.length);
  let offset = 0;
  for (const [nth, word] of words.entries()) {
    // It changes the node now and then, and says some words again.
    const node = nth % 50 < 25 ? one : other;
    expect(await write(node, handoff, offset, word)).toEqual({ offset: offset + word.length });
    if (nth % 10 === 0) await write(node, handoff, offset, word);
    offset += word.length;
  }
  expect(await reading).toBe(whole);
  for (const node of [one, other, reader]) {
    expect(await node.engine.chunks.read(namespace, handoff.accepted.id, offset - 5)).toMatchObject({
      fence: 1,
      offset: offset - 5,
      text: whole.slice(-5),
    });
  }
});

test("many pieces at once stay in order, a gap is refused, a lost lease too", async () => {
  const [one, other, reader] = await startNodes();
  const handoff = await leased(one);
  await Promise.all(Array.from({ length: 50 }, (_, nth) => write(one, handoff, nth * 2, `${nth % 10}.`)));
  const { text } = (await reader.engine.chunks.read(namespace, handoff.accepted.id, 0)) ?? {};
  expect(text).toBe(Array.from({ length: 50 }, (_, nth) => `${nth % 10}.`).join(""));
  expect(await write(other, handoff, 101, "too far")).toMatchObject({ code: 409, reason: "chunk_gap" });

  await other.perform(handoff, failing(handoff, true));
  const current = await one.engine.get(namespace, handoff.accepted.id);
  if (current === null) throw new Error("it is gone");
  expect(await one.engine.chunks.write(current, holderOf(handoff), 100, "late")).toMatchObject({ code: 412 });
});

test("a stream is bounded: its beginning goes, and whoever reads learns from where it is there", async () => {
  const [one, , reader] = await startNodes({ chunk_bytes_per_handoff: 100 });
  const handoff = await leased(one);
  for (let offset = 0; offset < 1_000; offset += 10) await write(one, handoff, offset, "0123456789");
  expect(await reader.engine.chunks.read(namespace, handoff.accepted.id, 0)).toEqual({
    fence: 1,
    floor: 900,
    offset: 900,
    text: "0123456789".repeat(10),
  });
});
