import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { operator_token, type TestAgent } from "../../../relay/src/testing/test-relay.ts";
import { Handfast } from "./testing/run-handfast.ts";

let handfast: Handfast;
let alice: TestAgent;
let bob: TestAgent;

beforeEach(async () => {
  handfast = await Handfast.start();
  alice = await handfast.relay.agent("alice");
  bob = await handfast.relay.agent("bob", "upper");
});
afterEach(() => handfast.stop());

/** Nobody beats here, and a machine may be slow. */
const limits = { lease_ms: 600_000 };

/** Submitted, claimed and acknowledged. */
async function taken(more: Record<string, unknown> = {}): Promise<string> {
  const id = await alice.submit({ capability: "upper", input: { query: "fsync" }, limits, ...more });
  const lease = await bob.claim({ capabilities: ["upper"] });
  expect(lease.id).toBe(id);
  await bob.act(id, "ack", { fence: lease.fence });
  return id;
}

async function expired(more: Record<string, unknown> = {}): Promise<string> {
  const id = await alice.submit({ capability: "upper", input: 1, limits: { deadline_ms: 1 }, ...more });
  await alice.get(`/v1/handoffs/${id}?until=ended`, { prefer: "wait=10" });
  return id;
}

test("why tells of a handoff as it goes from the queue to its end, by the end of its id", async () => {
  const id = await alice.submit({ capability: "nothing", queue_if_absent: true, input: 1 });
  const queued = await handfast.run("why", id.slice(-12));
  expect(queued).toMatchObject({ code: 0, stderr: "" });
  expect(queued.stdout).toMatch(/^Queued because no agent offers capability nothing: .*\n$/);
  await alice.act(id, "cancel", { reason: "no longer needed" });
  const canceled = await handfast.run("why", id, "--json");
  expect(JSON.parse(canceled.stdout)).toMatchObject({ id, state: "canceled", code: 410 });
  expect(JSON.parse(canceled.stdout).why).toMatch(/^Canceled .* by its sender alice: no longer needed\.$/);
});

test("why finds the head that blocks an ordering key", async () => {
  const head = await taken({ ordering_key: "k" });
  const id = await alice.submit({ capability: "upper", input: 2, ordering_key: "k" });
  const { stdout } = await handfast.run("why", id);
  expect(stdout).toContain(`Queued behind handoff ${head} (working at worker bob-1)`);
  await bob.act(head, "complete", { fence: 1, output: 1 });
  const next = await bob.claim({ capabilities: ["upper"] });
  await bob.act(id, "complete", { fence: next.fence, output: 1 });
});

test("an id that is nowhere ends with exit code 66", async () => {
  const nowhere = await handfast.run("why", "019a8b5e-1c00-7000-8000-00000000abcd");
  expect(nowhere.code).toBe(66);
  expect(nowhere.stdout).toContain("There is no handoff 019a8b5e-1c00-7000-8000-00000000abcd at this relay");
  const mistyped = await handfast.run("show", "not-an-id!");
  expect(mistyped).toMatchObject({ code: 64, stdout: "" });
});

test("show prints timeline, clocks, receipts, questions and children", async () => {
  const id = await taken();
  await bob.act(id, "ask", { fence: 1, question: "Which colour?", question_id: "colour" });
  await alice.post(`/v1/questions/${id}:colour/answer`, { answer: "red" });
  await bob.act(id, "checkpoint", { fence: 1, state: { at: 3 } });
  const child = await bob.submit({ to: "bob", input: 1, causation: { id, fence: 1 } });
  await bob.act(id, "complete", { fence: 1, output: { ok: true } });
  const { code, stdout } = await handfast.run("show", id);
  expect(code).toBe(0);
  expect(stdout).toContain(`handoff ${id}  completed 200 completed`);
  expect(stdout).toContain('output      {"ok":true} (application/json, 11 bytes)');
  expect(stdout).toMatch(/acknowledged {2}by bob-1, attempt 1, fence 1, attested/);
  expect(stdout).toMatch(/answer {3}"red" by alice/);
  expect(stdout).toContain(`${child}  @bob  canceled 410`);
  const json = JSON.parse((await handfast.run("show", id, "--json")).stdout);
  expect(json.handoff).toMatchObject({ id, state: "completed", input: { query: "fsync" } });
  expect(json.events.map(({ type }: { type: string }) => type)).toContain("checkpointed");
});

test("show --verify checks what was signed, with the keys of its authors", async () => {
  await using carol = await connect({ url: handfast.relay.url, agent: "carol", home: handfast.home });
  const { id } = await carol.send("upper", { query: "fsync" });
  const { stdout, code } = await handfast.run("show", id, "--verify");
  expect(code).toBe(0);
  expect(stdout).toMatch(/accepted .* from carol {2}signed by its author, signature verified/);
});

test("watch follows a handoff to its end and tells by the exit code how it ended", async () => {
  const id = await taken();
  const child = handfast.spawn(operator_token, ["watch", id, "--json"]);
  const lines: string[] = [];
  child.stdout.on("data", (piece) => lines.push(...String(piece).trim().split("\n")));
  await once(child.stdout, "data");
  await bob.act(id, "fail", { fence: 1, error: { reason: "boom", message: "no" }, retryable: false });
  await once(child, "close");
  const types = lines.map((line) => JSON.parse(line).type);
  expect(types).toEqual(["accepted", "delivered", "acknowledged", "failed"]);
  expect(child.exitCode).toBe(1);
});

test("watch without an id follows everything from now on", async () => {
  const child = handfast.spawn(operator_token, ["watch"]);
  const seen = once(child.stdout, "data");
  // The first look at the log comes at an unknown moment after the start: so something happens until it is seen.
  const busy = setInterval(() => void alice.post("/v1/handoffs", { to: "bob", kind: "notice", input: 1 }), 300);
  const [piece] = await seen;
  clearInterval(busy);
  expect(String(piece)).toMatch(/ @bob {2}accepted {6}by the relay from alice, attested/);
  child.kill("SIGINT");
  await once(child, "close");
  expect(child.exitCode).toBe(130);
});

test("tree shows a correlation by causation, and follows it until everything has ended", async () => {
  const id = await taken({ correlation_id: "nightly-7" });
  const child = await bob.submit({ to: "bob", input: 1, causation: { id, fence: 1 } });
  const { stdout } = await handfast.run("tree", child.slice(-12));
  expect(stdout).toMatch(/^correlation nightly-7\nupper +working 211 +bob .*\n└─ @bob +queued 202 +– .*\n2 handoffs/);
  const follows = handfast.spawn(operator_token, ["tree", "nightly-7", "--follow"]);
  let text = "";
  follows.stdout.on("data", (piece) => (text += String(piece)));
  await once(follows.stdout, "data");
  await bob.act(id, "complete", { fence: 1, output: 1 });
  await once(follows, "close");
  expect(text).toMatch(/upper +completed 200/);
  expect(text).toContain(child.slice(-8));
});

test("questions are listed and answered by name, and what cannot fit is refused before it is sent", async () => {
  const id = await taken();
  await bob.act(id, "ask", { fence: 1, question: "Which?", question_id: "shade", schema: { enum: ["red", "blue"] } });
  const listed = await handfast.runAs(alice.token, "questions");
  expect(listed.stdout).toContain(`${id}:shade  from bob to the sender alice`);
  const unfit = await handfast.runAs(alice.token, "answer", "shade", "--text", "green");
  expect(unfit.code).toBe(65);
  expect(unfit.stderr).toContain('it must be one of "red", "blue"');
  const notJson = await handfast.runAs(alice.token, "answer", "shade", "red");
  expect(notJson.code).toBe(65);
  await writeFile(join(handfast.home, "answer.json"), '"blue"');
  const answered = await handfast.runAs(alice.token, "answer", "shade", "@answer.json");
  expect(answered).toMatchObject({ code: 0, stdout: `answered ${id}:shade: the handoff is working at agent bob\n` });
  const gone = await handfast.runAs(alice.token, "answer", "shades", '"blue"');
  expect(gone.code).toBe(66);
  await bob.act(id, "complete", { fence: 1, output: 1 });
});

test("an answer by somebody whom nobody asked is refused", async () => {
  const id = await taken();
  await bob.act(id, "ask", { fence: 1, question: "Which?", question_id: "shade" });
  const { code, stderr } = await handfast.runAs(bob.token, "answer", `${id}:shade`, "1");
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/^error: /);
  expect((await alice.get(`/v1/questions/${id}:shade`)).body.open).toBe(true);
});

test("list shows the newest first, by any filter, and is one document with --json", async () => {
  const id = await taken({ labels: { run: "listed" }, correlation_id: "to-list" });
  const lines = (await handfast.run("list", "--label", "run=listed", "--state", "working")).stdout.split("\n");
  expect(lines[0]).toMatch(/^id +state +code +target +from +age +how it goes$/);
  expect(lines[1]).toMatch(new RegExp(`^${id.slice(-8)}  working  211   upper   alice `));
  const listed = await handfast.run("list", "--correlation", "to-list", "--from", "alice", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({ handoffs: [{ id, state: "working" }], cursor: null });
  const newer = await alice.submit({ capability: "upper", input: 2 });
  const one = await handfast.run("list", "--limit", "1", "--json");
  expect(JSON.parse(one.stdout)).toMatchObject({ handoffs: [{ id: newer }], cursor: expect.any(String) });
  expect((await handfast.run("list", "--label", "run")).code).toBe(64);
  const unknown = await handfast.run("show", "ffffffff");
  expect(unknown).toMatchObject({ code: 66, stderr: expect.stringContaining("handfast list") });
  await bob.act(id, "complete", { fence: 1, output: 1 });
});

test("outcomes are listed until they are taken", async () => {
  const id = await taken();
  await bob.act(id, "complete", { fence: 1, text: "HELLO" });
  const listed = await handfast.runAs(alice.token, "outcomes", id);
  expect(listed.stdout).toMatch(new RegExp(`^id .*\n${id}  upper   completed 200  .*  "HELLO"\n$`));
  const taking = await handfast.runAs(alice.token, "outcomes", "--take", id, "--json");
  expect(JSON.parse(taking.stdout)).toMatchObject({ outcomes: [{ id, outcome: { text: "HELLO" } }] });
  const after = await handfast.runAs(alice.token, "outcomes", id);
  expect(after).toMatchObject({ code: 66, stdout: "" });
  expect((await alice.get(`/v1/handoffs/${id}`)).body.taken_at).not.toBe(null);
});

test("cancel tells its worker's name, and after an end it says so", async () => {
  const id = await taken();
  const canceled = await handfast.runAs(alice.token, "cancel", id, "--reason", "enough");
  expect(canceled).toMatchObject({ code: 0, stdout: `canceled ${id}; worker bob-1 is told\n` });
  const again = await handfast.runAs(alice.token, "cancel", id);
  expect(again).toMatchObject({ code: 1, stdout: `not canceled: ${id} had already ended as canceled 410\n` });
  const done = await taken();
  await bob.act(done, "complete", { fence: 1, output: 1 });
  const late = await handfast.runAs(alice.token, "cancel", done);
  expect(late).toMatchObject({ code: 1, stdout: `not canceled: ${done} had already ended as completed 200\n` });
});

test("dead letters are listed, shown, redriven with another input, and discarded", async () => {
  const id = await expired({ labels: { run: "a" } });
  const listed = await handfast.run("dead", "list", "--code", "408", "--json");
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(listed.stdout).dead_letters.map((each: { id: string }) => each.id)).toContain(id);
  const shown = await handfast.run("dead", "show", id);
  expect(shown.stdout).toContain("expired 408 deadline_passed: the deadline passed while the handoff was queued");
  const redriven = await handfast.run("dead", "redrive", id, "--input", '{"n":2}', "--timeout", "10m", "--json");
  const { redriven_as } = JSON.parse(redriven.stdout);
  expect((await alice.get(`/v1/handoffs/${redriven_as}?input=true`)).body).toMatchObject({
    redrive_of: id,
    input: { n: 2 },
  });
  const again = await handfast.run("dead", "redrive", id, "--input", '{"n":3}');
  expect(again).toMatchObject({ code: 1, stdout: `was redriven before as ${redriven_as}\n` });
  expect(again.stderr).toContain("Your edits were NOT applied");
  expect((await handfast.run("dead", "redrive", id)).code).toBe(0);
  await alice.act(redriven_as, "cancel");
  const other = await expired();
  expect(await handfast.run("dead", "discard", other)).toMatchObject({ code: 0, stdout: `discarded ${other}\n` });
});

test("many dead letters are counted first, and redriven only with --yes where nobody can be asked", async () => {
  await expired({ correlation_id: "bulk" });
  await expired({ correlation_id: "bulk" });
  const dry = await handfast.run("dead", "redrive", "--all", "--correlation", "bulk", "--dry-run", "--json");
  expect(JSON.parse(dry.stdout)).toMatchObject({ count: 2 });
  const alone = await handfast.run("dead", "redrive", "--all", "--correlation", "bulk");
  expect(alone.code).toBe(64);
  expect(alone.stderr).toContain("--yes");
  const sure = await handfast.run("dead", "redrive", "--all", "--correlation", "bulk", "--yes");
  expect(sure).toMatchObject({ code: 0, stdout: "redriven 2\n" });
  const neither = await handfast.run("dead", "redrive");
  expect(neither.code).toBe(64);
});

test("the log comes as lines of JSON, whole and in order, or of one correlation with its payloads", async () => {
  await taken({ correlation_id: "nightly-7" });
  await expired();
  const all = await handfast.run("log");
  const lines = all.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const whole = (await handfast.relay.get("/v1/log", operator_token)).text;
  expect(all.stdout).toBe(whole);
  expect(all.stderr).toBe(`${lines.length} events.\n`);
  const own = await handfast.run("log", "--since", "1h", "--correlation", "nightly-7", "--payloads");
  const inputs = own.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).payload?.input);
  expect(inputs[0]).toEqual({ query: "fsync" });
});
