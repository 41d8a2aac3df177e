import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, failure } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "write");
  sender = await openSender(relay, "sender");
});
afterAll(async () => {
  await sender.close();
  await relay.stop();
});

describe("events", () => {
  it("tell everything from the beginning to the end, with progress between, and then end", async () => {
    const handle = await sender.send("write", 1);
    const seen: string[] = [];
    const following = (async () => {
      for await (const event of handle.events()) {
        seen.push(event.type);
        if (event.type === "acknowledged") await beat(handle.id);
        if (event.type === "progress") await worker.act(handle.id, "complete", { fence: 1, output: 1 });
      }
    })();
    await claimed(worker);
    await following;
    expect(seen).toEqual(["accepted", "delivered", "acknowledged", "progress", "completed"]);
    expect(handle.progress).toMatchObject({ fraction: 0.5, note: "half" });
  });

  it("tell of an outcome that came too late", async () => {
    const handle = await sender.send("write", 1);
    const { id, fence } = await claimed(worker);
    await handle.cancel();
    await worker.act(id, "complete", { fence, output: "too late" });
    const seen: string[] = [];
    for await (const { type } of handle.events()) seen.push(type);
    expect(seen).toEqual(["accepted", "delivered", "acknowledged", "canceled", "late"]);
    expect((await handle.status()).late).toMatchObject([{ outcome: { output: "too late" } }]);
  });

  it("free their stream when the loop is left, and cancel nothing", async () => {
    const handle = await sender.send("write", 1);
    for await (const event of handle.events()) {
      expect(event.type).toBe("accepted");
      break;
    }
    const closed = async () => (await relay.figure("handfast_streams")) === 0;
    await expect.poll(closed).toBe(true);
    expect((await handle.status()).state).toBe("queued");
    await handle.cancel();
  });

  it("end with the reason of their signal", async () => {
    const handle = await sender.send("write", 1);
    const controller = new AbortController();
    const following = (async () => {
      for await (const _event of handle.events({ signal: controller.signal })) controller.abort(new Error("enough"));
    })();
    expect((await failure(following)).message).toBe("enough");
    await handle.cancel();
  });

  it("say what an unknown handoff may mean", async () => {
    const error = await failure(drain(sender.handle("01890000-0000-7000-8000-000000000000").events()));
    expect(error).toMatchObject({ code: 404, reason: "unknown_handoff" });
    expect(error.remedy).toContain("Check the id");
  });

  const beat = (id: string) => worker.act(id, "heartbeat", { fence: 1, progress: { fraction: 0.5, note: "half" } });
});

describe("chunks", () => {
  it("are the text as it is written, and end with the handoff", async () => {
    const handle = await sender.send("write", 1);
    const { id, fence } = await claimed(worker);
    await worker.act(id, "chunks", { fence, offset: 0, text: "Once " });
    const pieces: string[] = [];
    for await (const piece of handle.chunks()) {
      pieces.push(piece);
      if (piece === "Once ") await worker.act(id, "chunks", { fence, offset: 5, text: "upon" });
      if (piece === "upon") await worker.act(id, "complete", { fence, output: "Once upon a time" });
    }
    expect(pieces).toEqual(["Once ", "upon"]);
    expect(await handle.result()).toBe("Once upon a time");
  });

  it("begin anew with another attempt, and say so; text() is that of the last", async () => {
    const handle = await sender.send("write", 1);
    const first = await claimed(worker);
    await worker.act(first.id, "chunks", { fence: first.fence, offset: 0, text: "lost" });
    const told: string[] = [];
    const reading = (async () => {
      for await (const piece of handle.chunks({ onRestart: () => told.push("restart") })) {
        told.push(piece);
        if (piece === "lost")
          await worker.act(first.id, "fail", { fence: 1, retryable: true, retry_after_ms: 1, error });
      }
    })();
    const text = handle.chunks().text();
    const second = await claimed(worker);
    await worker.act(second.id, "chunks", { fence: second.fence, offset: 0, text: "found" });
    await expect.poll(() => told).toEqual(["lost", "restart", "found"]);
    await worker.act(second.id, "complete", { fence: second.fence, output: 1 });
    await reading;
    expect(await text).toBe("found");
  });

  it("of a handoff without any are none", async () => {
    const handle = await sender.send("write", 1);
    await completes(worker, () => 1);
    expect(await handle.chunks().text()).toBe("");
  });

  const error = { reason: "lost", message: "I lost the thread." };
});

async function drain(iterable: AsyncIterable<unknown>): Promise<void> {
  for await (const _value of iterable);
}
