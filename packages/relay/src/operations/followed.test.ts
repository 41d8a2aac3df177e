import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await TestRelay.start();
});
afterAll(() => relay.stop());

const patient = { prefer: "wait=30" };

/** Ten other calls are answered first: it waits. */
async function stillWaits(answer: Promise<unknown>, agent: TestAgent): Promise<boolean> {
  const others = async () => {
    for (let call = 0; call < 10; call++) await agent.get("/v1/outcomes");
    return "others";
  };
  return (await Promise.race([answer, others()])) === "others";
}

async function ended(sender: TestAgent, worker: TestAgent, capability: string): Promise<string> {
  const id = await sender.submit({ capability, input: 1 });
  const lease = await worker.claim();
  await worker.act(id, "complete", { fence: lease.fence, output: 2 });
  return id;
}

const ids = ({ body }: { readonly body: { readonly handoffs: readonly { readonly id: string }[] } }) =>
  body.handoffs.map(({ id }) => id);

describe("a list that is followed by its mark", () => {
  it("answers when something has come into it, whatever still stays in it", async () => {
    const sender = await relay.agent("follower");
    const worker = await relay.agent("followed", "follow");
    const first = await ended(sender, worker, "follow");
    const { mark } = (await sender.get("/v1/outcomes", patient)).body;
    const answer = sender.get(`/v1/outcomes?since=${mark}`, patient);
    expect(await stillWaits(answer, sender)).toBe(true);
    const second = await ended(sender, worker, "follow");
    expect(ids(await answer)).toEqual([first, second]);
    // What came before the question is not waited for.
    expect(ids(await sender.get(`/v1/outcomes?since=${mark}`, patient))).toEqual([first, second]);
  });

  it("is not woken by what others' handoffs come to", async () => {
    const sender = await relay.agent("calm");
    const other = await relay.agent("busy");
    const worker = await relay.agent("calm-worker", "calm");
    const { mark } = (await sender.get("/v1/outcomes")).body;
    const answer = sender.get(`/v1/outcomes?since=${mark}`, patient);
    await ended(other, worker, "calm");
    expect(await stillWaits(answer, sender)).toBe(true);
    const own = await ended(sender, worker, "calm");
    expect(ids(await answer)).toEqual([own]);
  });

  it("answers a mark of another life at once, and refuses one that cannot be one", async () => {
    const sender = await relay.agent("stranger");
    expect(ids(await sender.get("/v1/outcomes?since=AAAAAAAAAAAA.sender.7", patient))).toEqual([]);
    const refused = await sender.get("/v1/outcomes?since=a%20b", patient);
    expect([refused.status, refused.body.fields]).toEqual([400, ["/since"]]);
  });

  it("tells the sender and the desk of a question when it is asked", async () => {
    const sender = await relay.agent("asked");
    const worker = await relay.agent("asker", "asking");
    const desk = await relay.agent("desk", "advice");
    const marks = [(await sender.get("/v1/questions")).body.mark, (await desk.get("/v1/questions")).body.mark];
    const answers = [sender, desk].map((agent, at) => agent.get(`/v1/questions?since=${marks[at]}`, patient));
    await sender.submit({ capability: "asking", input: 1 });
    const { id, fence } = await worker.claim();
    expect(await stillWaits(Promise.race(answers), sender)).toBe(true);
    await worker.act(id, "ask", { fence, question: "Which?", question_id: "which" });
    const [told, woken] = await Promise.all(answers);
    expect(told?.body.questions).toMatchObject([{ id: `${id}:which` }]);
    // It was put to the sender: the desk looks, and finds nothing for itself.
    expect(woken?.body.questions).toEqual([]);
  });
});
