/** A relay that lies: the fetch given to the worker changes what a real relay answers. Nothing forged reaches a handler. */

import type { LeaseView, QuestionView } from "@handfast/protocol/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operator_token } from "../../../relay/src/testing/test-relay.ts";
import type { Client } from "../client.ts";
import { Fail } from "../errors.ts";
import { Stage } from "./testing/stage.ts";

type Lie = (body: Record<string, unknown>) => void;

let stage: Stage;
let sender: Client;
let lie: Lie;
beforeEach(async () => {
  stage = await Stage.open();
  lie = () => {};
  sender = await stage.agent("sender");
});
afterEach(() => stage.close());

const lying: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.headers.get("content-type")?.includes("json")) return response;
  const body = (await response.json()) as Record<string, unknown>;
  lie(body);
  return Response.json(body, { status: response.status });
};

const onLease =
  (tamper: (lease: LeaseView) => void): Lie =>
  ({ leases }) => {
    for (const lease of Array.isArray(leases) ? (leases as LeaseView[]) : []) tamper(lease);
  };

async function serve(handler: (input: unknown) => unknown): Promise<Client> {
  const worker = await stage.agent("worker", { fetch: lying, transport: "http" });
  await worker.serve({ work: handler }, { signals: false });
  return worker;
}

describe("a signature that is taken away", () => {
  const unproven = (lease: LeaseView) => {
    lease.signed = { document: lease.signed?.document ?? "", proof: null };
    lease.input = "forged";
  };

  test("is missed where the relay still calls the handoff signed", async () => {
    const ran: unknown[] = [];
    await serve((input) => ran.push(input));
    lie = onLease(unproven);
    const handle = await sender.send("work", "honest");
    await expect(handle.result()).rejects.toMatchObject({ code: 501, reason: "proof_missing" });
    expect(ran).toEqual([]);
  });

  test("is missed once the sender has signed before", async () => {
    const ran: unknown[] = [];
    await serve((input) => ran.push(input));
    await (await sender.send("work", "first")).result();
    lie = onLease((lease) => {
      unproven(lease);
      lease.evidence = "attested";
    });
    const handle = await sender.send("work", "second");
    await expect(handle.result()).rejects.toMatchObject({ code: 501, reason: "no_longer_signed" });
    expect((await stage.warned("worker", "no_longer_signed")).handoff).toBe(handle.id);
    expect(ran).toEqual(["first"]);
  });
});

test("a redrive without edits is still the sender's own work, and one whose input was changed is not", async () => {
  const ran: unknown[] = [];
  await serve((input) => {
    ran.push(input);
    throw new Fail("not today");
  });
  const redrive = async (body: object) => {
    const { id } = await sender.send("work", { n: 1 }, { labels: { team: "a" } });
    await sender.handle(id).outcome({ take: false });
    const path = `/v1/dead-letters/${id}/redrive`;
    const redriven = await stage.relay.call("POST", path, { token: operator_token, body });
    return (await sender.handle(String(redriven.body.redriven_as)).outcome()).outcome?.error?.reason;
  };
  expect(await redrive({})).toBe("failed");
  expect(ran).toEqual([{ n: 1 }, { n: 1 }]);
  lie = onLease((lease) => {
    if (lease.evidence === "attested") lease.labels = { team: "b" };
  });
  expect(await redrive({})).toBe("binds_another");
  lie = () => {};
  expect(await redrive({ input: { n: 2 } })).toBe("no_longer_signed");
});

describe("an answer", () => {
  async function ask(tamper: Lie): Promise<unknown> {
    const worker = await stage.agent("asker", { fetch: lying, transport: "http" });
    await worker.serve({ book: async (_input: unknown, ctx) => ctx.ask("Where to?") }, { signals: false });
    lie = tamper;
    const handle = await sender.send("book", null);
    for await (const question of sender.questions()) {
      await sender.answer(question, "home");
      break;
    }
    return handle.result();
  }

  const forge: Lie = (body) => {
    const question = body as Partial<QuestionView>;
    if (question.resolution === "answered") question.answer = "elsewhere";
  };

  test("is what its author signed, whatever the relay shows", async () => {
    expect(await ask(forge)).toBe("home");
  });

  test("of a sender that signs is refused without its signature", async () => {
    const unsign: Lie = (body) => {
      forge(body);
      const receipts = (body["receipts"] ?? []) as { kind: string; signed: { proof: unknown } }[];
      for (const { kind, signed } of receipts) if (kind === "answer") signed.proof = null;
    };
    await expect(ask(unsign)).rejects.toMatchObject({ reason: "no_longer_signed" });
  });
});
