/** A sender's process on the real client: sends, answers questions, takes outcomes. */

import { type Client, connect, HandoffError } from "@handfast/client";
import type { HandoffView } from "@handfast/protocol/wire";
import { Journal } from "./journal.ts";
import { readSettings } from "./life.ts";
import type { SenderLine } from "./lines.ts";
import { type Desk, type Ended, sendUntilFinished } from "./sending.ts";
import { answerTo, capabilityOf, type Done } from "./task.ts";
import { patience, terms } from "./terms.ts";

const { url, agent, transport, home, journal: path } = readSettings();
const opened = Journal.open<SenderLine>(path);
const { journal } = opened;
const hf = await connect({
  url,
  agent,
  transport,
  home,
  patience,
  onWarning: ({ reason, message }) => journal.write({ said: "warned", reason, message }),
  onConnection: () => {},
});

function endedOf({ idempotency_key: key, id, state, outcome }: HandoffView, output: Done | null): Ended {
  return { key, id, state, fence: outcome?.fence ?? null, output };
}

function deskOf(client: Client): Desk {
  return {
    newId: () => null,
    submit: async ({ key, correlation, lease_ms, task }) => {
      const { ack_ms: ack, deadline_ms: timeout, max_attempts: attempts } = terms;
      const options = { idempotencyKey: key, correlation, lease: lease_ms, ack, timeout, attempts };
      const { id, receipt } = await client.send<Done>(capabilityOf(task), task, options);
      return { id, repeated: receipt?.repeated === true };
    },
    ended: async (id) => {
      const handle = client.handle<Done>(id);
      const view = await handle.outcome({ take: false });
      return endedOf(view, view.state === "completed" ? await handle.result({ take: false }) : null);
    },
    take: async (id) => {
      await client.handle(id).take();
    },
    untaken: async function* () {
      for await (const handle of client.outcomes<Done>({ follow: false })) {
        const { view } = handle;
        yield endedOf(view, view.state === "completed" ? await handle.result({ take: false }) : null);
      }
    },
  };
}

/** A question may be closed by the time its answer comes: its worker was killed, and the next one asks again. */
const closed_codes: ReadonlySet<number> = new Set([409, 410, 412]);

async function answerQuestions(client: Client): Promise<void> {
  for await (const question of client.questions()) {
    const key = String(question.question);
    try {
      await client.answer(question, answerTo(key));
      journal.write({ said: "answered", key });
    } catch (error) {
      if (!(error instanceof HandoffError) || !closed_codes.has(error.code)) throw error;
    }
  }
}

void answerQuestions(hf);
await sendUntilFinished(deskOf(hf), agent, opened, true);
process.exit(0);
