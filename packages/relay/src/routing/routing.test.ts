import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let count = 0;

beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
});
afterAll(() => relay.stop());

/** A capability of its own for each test, and agents that offer it. */
async function offered(...offers: readonly Record<string, unknown>[]): Promise<[string, ...TestAgent[]]> {
  count += 1;
  const capability = `work-${count}`;
  const agents: TestAgent[] = [];
  for (const [nth, offer] of offers.entries()) {
    agents.push(await relay.agent(`agent-${count}-${nth + 1}`, { name: capability, ...offer }));
  }
  return [capability, ...agents];
}

const finish = async (agent: TestAgent, { id, fence }: { readonly id: string; readonly fence: number }) => {
  expect((await agent.act(id, "complete", { fence, output: 1 })).status).toBe(200);
};

const waiting = (agent: TestAgent, more: Record<string, unknown> = {}) =>
  agent
    .post("/v1/claims", { worker: `${agent.name}-1`, ...more }, { prefer: "wait=10" })
    .then(({ body }) => body.leases);

/** Whoever of them waits gets it; the others are let go. */
async function served(agents: readonly TestAgent[], body: Record<string, unknown>): Promise<string> {
  const claims = agents.map((agent) => waiting(agent));
  await allAsking(agents);
  const id = await sender.submit(body);
  const lease = await Promise.race(claims.map((claim) => claim.then(([one]) => one)));
  const { body: view } = await sender.get(`/v1/handoffs/${id}`);
  const agent = agents.find(({ name }) => name === view.lease.agent);
  if (agent === undefined) throw new Error(`nobody known: ${view.lease.agent}`);
  await finish(agent, lease);
  // The same worker asks again with nothing to wait for: its older claim is over.
  for (const other of agents) if (other !== agent) await release(other);
  return agent.name;
}

async function allAsking(agents: readonly TestAgent[]): Promise<void> {
  for (const agent of agents) {
    for (;;) {
      const { body } = await agent.get(`/v1/agents/${agent.name}`);
      if (body.workers.some(({ asking }: { asking: boolean }) => asking)) break;
    }
  }
}

/** Lets a waiting claim of this agent have something of its own. */
async function release(agent: TestAgent): Promise<void> {
  const id = await sender.submit({ to: agent.name, input: 1 });
  let view = (await sender.get(`/v1/handoffs/${id}`)).body;
  while (view.lease === null) view = (await sender.get(`/v1/handoffs/${id}`)).body;
  await finish(agent, { id, fence: view.fence });
}

describe("why this agent", () => {
  it("is told in the lease, in the view also after the end, and in the event", async () => {
    const [capability, worker] = await offered({});
    if (worker === undefined) throw new Error("no worker");
    const id = await sender.submit({ capability, input: 1 });
    const lease = await worker.claim();
    expect(lease.why).toEqual({ rule: "only", among: 1 });
    await finish(worker, lease);
    expect((await sender.get(`/v1/handoffs/${id}`)).body.why).toEqual({ rule: "only", among: 1 });
    const { events } = (await sender.get(`/v1/handoffs/${id}/events`)).body;
    expect(events[1]).toMatchObject({ type: "delivered", why: { rule: "only", among: 1 } });
  });

  it("is the better of two where two wait", async () => {
    const [capability, ...agents] = await offered({}, {});
    await served(agents, { capability, input: 1 });
    const { handoffs } = (await sender.get(`/v1/handoffs?capability=${capability}`)).body;
    expect(handoffs[0].why).toMatchObject({ rule: "better_of_two", among: 2, score: expect.any(Number) });
  });
});

describe("versions", () => {
  it("that are asked for get the work, and no others", async () => {
    const [capability, old, young] = await offered({ version: "1.4.0" }, { version: "2.0.1" });
    if (old === undefined || young === undefined) throw new Error("no agents");
    for (const [version, agent, other] of [
      ["^1.2", old, young],
      ["2.x", young, old],
    ] as const) {
      const id = await sender.submit({ capability, version, input: 1 });
      expect((await other.post("/v1/claims", { worker: "w" })).body.leases).toEqual([]);
      const lease = await agent.claim();
      expect(lease.id).toBe(id);
      expect((await sender.get(`/v1/handoffs/${id}`)).body.version_range).toBe(version);
      await finish(agent, lease);
    }
  });

  it("that nobody offers are refused with those there are, or waited for", async () => {
    const [capability, agent] = await offered({ version: "1.4.0" }, { version: "2.0.1" }, {});
    if (agent === undefined) throw new Error("no agent");
    const refused = await sender.post("/v1/handoffs", { capability, version: "^3", input: 1 });
    expect(refused.status).toBe(406);
    expect(refused.body).toMatchObject({ reason: "no_such_version", versions: ["1.4.0", "2.0.1"] });
    expect(refused.body.detail).toContain('in version "^3"');
    const id = await sender.submit({ capability, version: "^3", input: 1, queue_if_absent: true });
    expect((await agent.post("/v1/claims", { worker: "w" })).body.leases).toEqual([]);
    const next = await relay.agent(`${agent.name}-next`, { name: capability, version: "3.1.0" });
    expect((await next.claim()).id).toBe(id);
  });

  it("of a named agent are asked for alike", async () => {
    const [capability, agent] = await offered({ version: "1.4.0" });
    if (agent === undefined) throw new Error("no agent");
    const to = { to: agent.name, capability, input: 1 };
    expect((await sender.post("/v1/handoffs", { ...to, version: "^2" })).body).toMatchObject({
      code: 406,
      versions: ["1.4.0"],
    });
    await sender.submit({ ...to, version: "^1" });
    await finish(agent, await agent.claim());
  });

  it("that were asked for are asked for again by a redrive, unless it goes to another capability", async () => {
    const [capability, old, young] = await offered({ version: "1.4.0" }, { version: "2.0.1" });
    const [another] = await offered({ version: "1.0.0" });
    if (old === undefined || young === undefined) throw new Error("no agents");
    async function redriven(by: TestAgent, edits: Record<string, unknown>) {
      const id = await sender.submit({ capability, version: "^2", input: 1 });
      const { fence } = await by.claim();
      await by.act(id, "fail", { fence, error: { reason: "broken", message: "It broke." } });
      return (await sender.post(`/v1/dead-letters/${id}/redrive`, edits)).body.handoff;
    }
    for (const edits of [{}, { input: 2 }, { capability }, { to: young.name, capability }]) {
      expect((await redriven(young, edits)).version_range).toBe("^2");
      expect((await old.post("/v1/claims", { worker: "w" })).body.leases).toEqual([]);
      await finish(young, await young.claim());
    }
    for (const edits of [{ capability: another }, { to: old.name }]) {
      expect((await redriven(young, edits)).version_range).toBeNull();
    }
  });

  it("are of a capability: without one they are refused", async () => {
    const [, agent] = await offered({});
    const refused = await sender.post("/v1/handoffs", { to: agent?.name, version: "1", input: 1 });
    expect(refused.body).toMatchObject({ code: 400, reason: "version_of_nothing" });
  });

  it("are part of what was asked: the same key with another range is a conflict", async () => {
    const [capability] = await offered({ version: "1.4.0" });
    const body = { capability, input: 1, idempotency_key: `key-${capability}` };
    const id = await sender.submit({ ...body, version: "^1" });
    expect(await sender.submit({ ...body, version: "^1" })).toBe(id);
    expect((await sender.post("/v1/handoffs", body)).status).toBe(409);
    expect((await sender.post("/v1/handoffs", { ...body, version: "1.x" })).status).toBe(409);
  });

  it("are looked at again when the manifest changes before the delivery", async () => {
    const [capability, agent] = await offered({ version: "1.4.0" });
    if (agent === undefined) throw new Error("no agent");
    const id = await sender.submit({ capability, version: "^1", input: 1 });
    const put = (version: string) =>
      relay.call("PUT", `/v1/agents/${agent.name}/capabilities`, {
        token: agent.token,
        body: { capabilities: [{ name: capability, version }] },
      });
    expect((await put("2.0.0")).status).toBe(200);
    expect((await agent.post("/v1/claims", { worker: "w" })).body.leases).toEqual([]);
    expect((await put("1.5.0")).status).toBe(200);
    expect((await agent.claim()).id).toBe(id);
  });
});

describe("routes", () => {
  const set = (capability: string, weights: unknown, token = operator_token) =>
    relay.call("PUT", `/v1/routes/${capability}`, { token, body: { weights } });

  it("put work under a range of versions, say so, and fall back where nobody offers it", async () => {
    const [capability, old] = await offered({ version: "1.4.0" });
    if (old === undefined) throw new Error("no agent");
    expect((await set(capability, [{ version: "2.x", weight: 1 }])).body).toMatchObject({
      capability,
      weights: [{ version: "2.x", weight: 1 }],
    });
    await sender.submit({ capability, input: 1 });
    const fallen = await old.claim();
    expect(fallen.why).toEqual({ rule: "only", among: 1, canary: { version: "2.x", met: false } });
    await finish(old, fallen);

    const young = await relay.agent(`${old.name}-next`, { name: capability, version: "2.0.0" });
    expect(await served([old, young], { capability, input: 1 })).toBe(young.name);
    const { handoffs } = (await sender.get(`/v1/handoffs?capability=${capability}&limit=1`)).body;
    expect(handoffs[0]).toMatchObject({ canary: "2.x", why: { canary: { version: "2.x", met: true } } });
    // A range of its own goes before any route.
    expect(await served([old, young], { capability, version: "1.x", input: 1 })).toBe(old.name);
  });

  it("divide work about as they say", async () => {
    const [capability] = await offered({ version: "1.4.0" });
    await set(capability, [
      { version: "1.x", weight: 90 },
      { version: "2.x", weight: 10 },
    ]);
    const handoffs = Array.from({ length: 500 }, () => ({ capability, input: 1 }));
    const { body } = await sender.post("/v1/handoffs/batch", { handoffs });
    const canaries: string[] = body.receipts.map(({ handoff }: { handoff: { canary: string } }) => handoff.canary);
    const young = canaries.filter((range) => range === "2.x").length;
    expect(canaries.length - young).toBe(canaries.filter((range) => range === "1.x").length);
    // Ten percent of 500, within five standard deviations.
    expect(Math.abs(young - 50)).toBeLessThan(34);
  });

  it("are listed and dropped, and survive a restart", async () => {
    const [capability] = await offered({});
    await set(capability, [{ version: "1.x", weight: 3 }]);
    await relay.pause();
    await relay.resume();
    const listed = async () => {
      const { routes } = (await relay.get("/v1/routes", operator_token)).body;
      return routes.filter((route: { capability: string }) => route.capability === capability);
    };
    expect(await listed()).toMatchObject([{ weights: [{ version: "1.x", weight: 3 }] }]);
    expect((await relay.call("DELETE", `/v1/routes/${capability}`, { token: operator_token })).status).toBe(200);
    expect(await listed()).toEqual([]);
    const again = await relay.call("DELETE", `/v1/routes/${capability}`, { token: operator_token });
    expect(again.body).toMatchObject({ code: 404, reason: "unknown_route" });
  });

  it("are the operators': an agent neither sees nor sets them", async () => {
    expect((await sender.get("/v1/routes")).status).toBe(403);
    expect((await set("anything", [{ version: "*", weight: 1 }], sender.token)).status).toBe(403);
  });

  it("without a weight, or with a range twice, are refused", async () => {
    expect((await set("anything", [{ version: "*", weight: 0 }])).body.reason).toBe("no_weight");
    const twice = [1, 2].map((weight) => ({ version: "1.x", weight }));
    expect((await set("anything", twice)).body).toMatchObject({
      reason: "range_twice",
      fields: ["/weights/1/version"],
    });
  });

  it("of what is no range are refused, as a handoff is that asks for it; a version by its own name is taken", async () => {
    const written = (version: string) => [
      { version: "1.x", weight: 1 },
      { version, weight: 1 },
    ];
    expect((await set("anything", written(">=1 <"))).body).toMatchObject({
      code: 400,
      reason: "version_range",
      fields: ["/weights/1/version"],
    });
    expect((await set("anything", written("nightly"))).status).toBe(200);
  });
});

describe("max_concurrent", () => {
  it("bounds the leases of an agent, whatever its workers ask for, also after a restart", async () => {
    const [capability, agent] = await offered({ max_concurrent: 2 });
    if (agent === undefined) throw new Error("no agent");
    for (let n = 0; n < 4; n++) await sender.submit({ capability, input: n });
    const claim = async (worker: string) => (await agent.post("/v1/claims", { worker, slots: 4 })).body.leases;
    const held = await claim("one");
    expect(held).toHaveLength(2);
    expect(await claim("two")).toEqual([]);
    for (const { id, fence } of held) await agent.act(id, "ack", { fence });
    await relay.pause();
    await relay.resume();
    expect(await claim("two")).toEqual([]);
    // Whoever waits is served by the end of one of them.
    const third = agent.claim({ worker: "two" });
    await allAsking([agent]);
    await finish(agent, held[0]);
    expect((await third).id).not.toBe(held[1].id);
    expect(await claim("three")).toEqual([]);
  });
});

describe("conversations and lanes", () => {
  it("stay with the agent that served them last, also after a restart", async () => {
    const [capability, ...agents] = await offered({}, {}, {});
    for (const tie of [{ conversation_id: `chat of ${capability}` }, { ordering_key: `order of ${capability}` }]) {
      const first = await served(agents, { capability, input: 1, ...tie });
      for (let n = 0; n < 3; n++) expect(await served(agents, { capability, input: n, ...tie })).toBe(first);
      await relay.pause();
      await relay.resume();
      expect(await served(agents, { capability, input: 1, ...tie })).toBe(first);
      const { handoffs } = (await sender.get(`/v1/handoffs?capability=${capability}&limit=1`)).body;
      expect(handoffs[0].why.rule).toBe("ordering_key" in tie ? "sticky_order" : "conversation");
    }
  });

  it("are not drawn away by a stranger that knows their id and has its own work in them served elsewhere", async () => {
    const [capability, honest, rival] = await offered({}, {});
    if (honest === undefined || rival === undefined) throw new Error("no agents");
    const body = { capability, conversation_id: `chat drawn from ${capability}`, input: 1 };
    await sender.submit(body);
    await finish(honest, await honest.claim());
    // Held back for the honest one for a quarter of this.
    await rival.submit({ ...body, limits: { deadline_ms: 2_000 } });
    await finish(rival, await rival.claim());
    const id = await sender.submit(body);
    expect((await rival.post("/v1/claims", { worker: "one" })).body.leases).toEqual([]);
    expect(await honest.claim()).toMatchObject({ id, why: { rule: "conversation" } });
  });

  it("are read by those who had a part in them, oldest first, page by page", async () => {
    const [capability, worker, other] = await offered({}, {});
    if (worker === undefined || other === undefined) throw new Error("no agents");
    const conversation_id = `chat about ${capability}`;
    const stranger = await relay.agent(`stranger-${capability}`);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(await sender.submit({ to: worker.name, capability, conversation_id, input: n }));
    }
    const theirs = await stranger.submit({ to: other.name, capability, conversation_id, input: "mine" });
    const path = `/v1/conversations/${encodeURIComponent(conversation_id)}`;
    const read = async (agent: TestAgent, query = "") => {
      const { body } = await agent.get(path + query);
      return { ids: body.handoffs.map(({ id }: { id: string }) => id), cursor: body.cursor };
    };
    expect(await read(sender)).toEqual({ ids, cursor: null });
    expect(await read(worker)).toEqual({ ids, cursor: null });
    expect(await read(stranger)).toEqual({ ids: [theirs], cursor: null });
    expect(await read(await relay.agent(`nobody-${capability}`))).toEqual({ ids: [], cursor: null });
    const page = await read(sender, "?limit=2");
    expect(page.ids).toEqual(ids.slice(0, 2));
    expect((await read(sender, `?limit=2&cursor=${page.cursor}`)).ids).toEqual(ids.slice(2));
    const all = (await relay.get(path, operator_token)).body.handoffs;
    expect(all.map(({ id }: { id: string }) => id)).toEqual([...ids, theirs]);
    const filtered = (await sender.get(`/v1/handoffs?conversation_id=${encodeURIComponent(conversation_id)}`)).body;
    expect(filtered.handoffs.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  });
});
