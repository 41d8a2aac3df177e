/** A relay that lies to a sender that demanded signed receipts: what it remembers counts, not what the relay says of it. */

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { Stage } from "../serve/testing/stage.ts";

type Body = Record<string, unknown> & { outcome?: Record<string, unknown> | null; receipts?: unknown };

let stage: Stage;
let sender: Client;
let lie: (body: Body) => void;
beforeEach(async () => {
  stage = await Stage.open();
  lie = () => {};
  const worker = await stage.agent("worker");
  await worker.serve({ work: () => "honest" }, { signals: false });
  sender = await stage.agent("sender", { fetch: lying, transport: "http" });
});
afterEach(() => stage.close());

const lying: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.headers.get("content-type")?.includes("json")) return response;
  const body = (await response.json()) as Body;
  lie(body);
  return Response.json(body, { status: response.status });
};

const forge = (body: Body) => {
  if (body.outcome != null) body.outcome["output"] = "forged";
};

test("an output that the relay changed is read from what was signed, though it denies the demand", async () => {
  lie = (body) => {
    forge(body);
    if ("demands" in body) body["demands"] = "any";
  };
  const handle = await sender.send("work", null, { evidence: "signed" });
  expect(await handle.result()).toBe("honest");
  const [scattered] = await sender.scatter([{ capability: "work", input: null, evidence: "signed" }]).all();
  expect(scattered).toBe("honest");
});

test("what is completed by the relay's word alone is not proven", async () => {
  lie = (body) => {
    forge(body);
    if (body.outcome != null) body.outcome["evidence"] = "relay";
    if (body.receipts !== undefined) body.receipts = [];
  };
  const demanding = await sender.send("work", null, { evidence: "signed" });
  await expect(demanding.result()).rejects.toMatchObject({ code: 401, reason: "not_proven" });
  const verifying = await sender.send("work", null);
  await expect(verifying.result({ verify: true })).rejects.toMatchObject({ code: 401, reason: "not_proven" });
});

test("what was signed about another document than the sender's own proves nothing", async () => {
  lie = (body) => {
    const receipts = (body.receipts ?? []) as { kind: string; signed: { proof: unknown } }[];
    for (const { kind, signed } of receipts) if (kind === "handoff") signed.proof = null;
  };
  const handle = await sender.send("work", null, { evidence: "signed" });
  await expect(handle.result()).rejects.toThrow("does not show the document that sender signed");
});
