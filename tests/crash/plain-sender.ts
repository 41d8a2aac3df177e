/** A sender's process on plain HTTP with a token: its ids are its own. */

import { randomBytes } from "node:crypto";
import { makeId } from "@handfast/protocol";
import type { HandoffView, Operations, Receipt } from "@handfast/protocol/wire";
import { Caller, type Reply } from "../support/caller.ts";
import { Journal } from "./journal.ts";
import { readSettings } from "./life.ts";
import type { SenderLine } from "./lines.ts";
import { type Desk, type Ended, sendUntilFinished } from "./sending.ts";
import { capabilityOf, isDone } from "./task.ts";
import { terms } from "./terms.ts";

const { url, agent, token, journal } = readSettings();
const caller = Caller.withToken(url, token);
const wait_seconds = 20;

type Outcomes = Operations["outcomes"]["reply"];

function sure<Body>({ status, body }: Reply<Body>, wanted: number): Body {
  if (status === wanted) return body;
  throw new Error(`the relay answered ${status} where ${wanted} was due: ${JSON.stringify(body)}`);
}

function endedOf({ idempotency_key: key, id, state, outcome }: HandoffView): Ended {
  const output = outcome?.output;
  return { key, id, state, fence: outcome?.fence ?? null, output: isDone(output) ? output : null };
}

const desk: Desk = {
  newId: () => makeId(Date.now(), randomBytes(10)),
  submit: async ({ key, id, correlation, lease_ms, task }) => {
    const body = {
      id,
      capability: capabilityOf(task),
      idempotency_key: key,
      correlation_id: correlation,
      limits: { ...terms, lease_ms },
      input: task,
    };
    return sure(await caller.post<Receipt>("/v1/handoffs", body), 202);
  },
  ended: async (id) => {
    for (;;) {
      const view = sure(await caller.get<HandoffView>(`/v1/handoffs/${id}?until=ended`, wait_seconds), 200);
      if (view.ended_at !== null) return endedOf(view);
    }
  },
  take: async (id) => {
    sure(await caller.post(`/v1/handoffs/${id}/take`, {}), 200);
  },
  untaken: async function* () {
    let cursor: string | null = null;
    do {
      const place: string = cursor === null ? "" : `?cursor=${cursor}`;
      const page: Outcomes = sure(await caller.get<Outcomes>(`/v1/outcomes${place}`), 200);
      for (const view of page.handoffs) yield endedOf(view);
      cursor = page.cursor;
    } while (cursor !== null);
  },
};

await sendUntilFinished(desk, agent, Journal.open<SenderLine>(journal), false);
process.exit(0);
