import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { HandoffError } from "../errors.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, failure } from "./testing/works.ts";

let relay: TestRelay;
let sender: OpenSender;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "upper");
  sender = await openSender(relay, "sender");
});
afterAll(async () => {
  await sender.close();
  await relay.stop();
});

const isTaken = async (id: string) => (await sender.handle(id).status()).taken_at !== null;
describe("send", () => {
  it("answers with a handle that has the relay's receipt", async () => {
    const handle = await sender.send("upper", { word: "hello" }, { timeout: "60s", labels: { job: "7" } });
    expect(handle.receipt).toMatchObject({ id: handle.id, code: 202, name: "accepted", repeated: false });
    expect(handle.correlation).toBe(handle.id);
    const lease = await claimed(worker);
    expect(lease).toMatchObject({ id: handle.id, input: { word: "hello" } });
    expect(await handle.status()).toMatchObject({ labels: { job: "7" }, limits: { deadline_ms: 60_000 } });
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 1 });
    expect(await handle.result()).toBe(1);
  });

  it("gives one handoff for one idempotency key, and refuses the key with other content", async () => {
    const first = await sender.send("upper", { a: 1, b: 2 }, { idempotencyKey: "once" });
    const again = await sender.send("upper", { b: 2, a: 1 }, { idempotencyKey: "once" });
    expect([again.id, again.receipt?.repeated]).toEqual([first.id, true]);
    const error = await failure(sender.send("upper", { a: 3 }, { idempotencyKey: "once" }));
    expect(error).toBeInstanceOf(HandoffError);
    expect(error).toMatchObject({ code: 409, name: "conflict", reason: "key_conflict", retryable: false });
    await first.cancel();
  });

  it("sends a string as plain text when asked to", async () => {
    const handle = await sender.send("upper", "hello", { text: true });
    const lease = await worker.claim();
    expect(lease.text).toBe("hello");
    await worker.act(lease.id, "complete", { fence: lease.fence, text: "HELLO" });
    expect(await handle.result()).toBe("HELLO");
  });

  it("names what nobody offers, with what to do", async () => {
    const error = await failure(sender.send("nobody_has_this", {}));
    expect(error).toMatchObject({ code: 406, name: "nobody_offers" });
    expect(error.remedy).not.toBe("");
  });

  it("puts artifacts up and refers to them", async () => {
    const bytes = new TextEncoder().encode("a picture");
    const handle = await sender.send("upper", {}, { artifacts: [{ bytes, mediaType: "image/png", name: "p.png" }] });
    const lease = await worker.claim();
    expect(lease.artifacts).toMatchObject([{ size: 9, media_type: "image/png", name: "p.png" }]);
    const [{ sha256 }] = lease.artifacts;
    expect((await worker.get(`/v1/artifacts/${sha256}`)).text).toBe("a picture");
    await handle.cancel();
  });

  it("gives up by its signal", async () => {
    const signal = AbortSignal.abort(new Error("not today"));
    expect((await failure(sender.send("upper", {}, { signal }))).message).toBe("not today");
  });
});

describe("notify", () => {
  it("ends as completed when it is acknowledged", async () => {
    const receipt = await sender.notify("upper", { news: 1 });
    const handle = sender.handle(receipt.id);
    await claimed(worker);
    expect(await handle.result()).toBeUndefined();
    expect((await handle.status()).kind).toBe("notice");
  });
});

describe("a handle", () => {
  it("waits for the ack, then for the output, and takes the outcome only after that", async () => {
    const handle = await sender.send<{ word: string }>("upper", { word: "a" });
    const acknowledged = handle.acknowledged();
    const lease = await claimed(worker);
    expect((await acknowledged).state).toBe("working");
    const reading = handle.outcome({ take: false });
    await worker.act(lease.id, "complete", { fence: lease.fence, output: { word: "A" } });
    expect((await reading).state).toBe("completed");
    expect(await isTaken(handle.id)).toBe(false);
    expect((await handle.result()).word).toBe("A");
    await sender.settled();
    expect(await isTaken(handle.id)).toBe(true);
    expect(sender.warnings).toEqual([]);
  });

  it("leaves the outcome untaken when asked to, until take() says so", async () => {
    const handle = await sender.send("upper", 1);
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 2 });
    expect(await handle.result({ take: false })).toBe(2);
    await sender.settled();
    expect(await isTaken(handle.id)).toBe(false);
    expect((await handle.take()).taken_at).not.toBeNull();
  });

  it("rejects with the agent's own words when it failed, and tells whether a retry can help", async () => {
    const handle = await sender.send("upper", 1);
    const lease = await claimed(worker);
    const error = { reason: "no_ink", message: "The ink is out." };
    await worker.act(lease.id, "fail", { fence: lease.fence, error });
    const failed = await failure(handle.result());
    expect(failed).toBeInstanceOf(HandoffError);
    expect(failed).toMatchObject({ code: 500, name: "agent_failed", reason: "no_ink", handoff: handle.id });
    expect(failed.message).toContain("The ink is out.");
    expect(failed.outcome?.error).toEqual(error);
    await sender.settled();
    expect(await isTaken(handle.id)).toBe(true);
    expect((await handle.outcome()).state).toBe("failed");
  });

  it("rejects acknowledged() if it ended before any ack, and not if it ended after one", async () => {
    const handle = await sender.send("upper", 1);
    const acknowledged = handle.acknowledged();
    await handle.cancel("changed my mind");
    expect(await failure(acknowledged)).toMatchObject({ code: 410, name: "canceled" });
    const other = await sender.send("upper", 2);
    const lease = await claimed(worker);
    await worker.act(lease.id, "fail", { fence: lease.fence, error: { reason: "x", message: "y" } });
    expect((await other.acknowledged()).state).toBe("failed");
  });

  it("rejects with 408 and a remedy when the deadline passed", async () => {
    const handle = await sender.send("upper", 1, { timeout: 300 });
    const error = await failure(handle.result());
    expect(error).toMatchObject({ code: 408, name: "deadline_passed", retryable: true });
    expect(error.remedy).not.toBe("");
  });

  it("is told of a cancel while it waits", async () => {
    const handle = await sender.send("upper", 1);
    const result = failure(handle.result());
    await sender.handle(handle.id).cancel("by hand");
    expect(await result).toMatchObject({ code: 410, name: "canceled" });
  });

  it("answers a cancel after the end with that end", async () => {
    const handle = await sender.send("upper", 1);
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 5 });
    expect((await handle.cancel()).state).toBe("completed");
    expect(await handle.result()).toBe(5);
  });

  it("shares one wait among all who ask", async () => {
    const handle = await sender.send("upper", 1);
    const gets = () => relay.figure('handfast_calls_total{operation="get",code="200"}');
    const before = await gets();
    const results = [handle.result(), handle.result(), handle.result()];
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: "same" });
    expect(await Promise.all(results)).toEqual(["same", "same", "same"]);
    expect((await gets()) - before).toBe(1);
  });

  it("lets one awaiter go without disturbing the others, and cancels nothing", async () => {
    const handle = await sender.send("upper", 1);
    const controller = new AbortController();
    const leaves = failure(handle.result({ signal: controller.signal }));
    const stays = handle.result();
    controller.abort(new Error("bored"));
    expect((await leaves).message).toBe("bored");
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 1 });
    expect(await stays).toBe(1);
  });

  it("ends a wait at its own timeout, says that the handoff goes on, and can wait again", async () => {
    const handle = await sender.send("upper", 1);
    expect(await failure(handle.result({ timeout: "50ms" }))).toMatchObject({ reason: "wait_over", retryable: true });
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 1 });
    expect(await handle.result({ timeout: "30s" })).toBe(1);
  });

  it("is made again from an id, and learns its correlation with the first look", async () => {
    const { id } = await sender.send("upper", 1, { correlation: "group-1" });
    const handle = sender.handle<string>(id);
    expect([handle.receipt, handle.correlation, handle.view]).toEqual([null, null, null]);
    expect((await handle.status()).state).toBe("queued");
    expect([handle.correlation, handle.view?.state]).toEqual(["group-1", "queued"]);
    await handle.cancel();
  });

  it("says what an unknown id may mean, and refuses what is no id", async () => {
    const error = await failure(sender.handle("01890000-0000-7000-8000-000000000000").result());
    expect(error).toMatchObject({ code: 404, name: "unknown", reason: "unknown_handoff" });
    expect(error.remedy).toContain("Check the id");
    expect(() => sender.handle("nonsense")).toThrow(/is no id/);
  });

  it("warns when the take fails, and the result stays a result", async () => {
    const mine = await openSender(relay, "warned");
    const handle = await mine.send("upper", 1);
    const lease = await claimed(worker);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 1 });
    const view = await handle.outcome({ take: false });
    const { identity } = await mine.base.link.call("agent", { params: { name: "warned" } });
    await relay.call("DELETE", `/v1/agents/warned/keys/${identity}`, { token: operator_token });
    expect([view.state, await handle.result()]).toEqual(["completed", 1]);
    await mine.settled();
    expect(mine.warnings).toMatchObject([{ reason: "take_failed", handoff: handle.id }]);
    await mine.close();
  });
});
