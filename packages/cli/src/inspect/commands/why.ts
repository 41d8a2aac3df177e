/** `handfast why`: one sentence on why a handoff is where it is, and what would move it. */

import { idTime } from "@handfast/protocol/client";
import type { Operations } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { callerName } from "../caller-name.ts";
import { fullId } from "../find-handoff.ts";
import { eventOf, readLogLines } from "../log-lines.ts";
import { codeOf, type Reader } from "../relay-reads.ts";
import type { StoryEvent } from "../story-event.ts";
import { gatherFacts } from "../why/gather-facts.ts";
import { whyGone } from "../why/purged.ts";
import { why } from "../why/why.ts";

export const whyCommand: Command = {
  name: "why",
  summary: "Says in one sentence why a handoff is where it is and what would move it.",
  arguments: [{ name: "id", help: "Of the handoff; its beginning or end is enough." }],
  examples: [{ line: "why 019a8b5e-1c00-7000-8000-00000000abcd", help: "and the next command to type" }],
  connects: true,
  async run({ terminal, arguments: [given = ""], connect }) {
    const client = await connect("operator");
    const id = await fullId(client, given);
    const view = await client.call("get", { params: { id } }).catch((error: unknown) => {
      if (codeOf(error) === 404) return null;
      throw error;
    });
    const { sentence, next } =
      view === null
        ? whyGone(id, await loggedEvents(client, id), Date.now())
        : why(view, await gatherFacts(client, view, callerName(client)));
    if (terminal.json) {
      terminal.document({ id, state: view?.state ?? null, code: view?.code ?? 404, why: sentence, next });
    } else {
      terminal.print(sentence);
      for (const line of next) terminal.next(line);
    }
    return view === null ? "missing" : "ok";
  },
};

/** A sender's clock may differ from the relay's by about this much. */
const search_ms = 10 * 60_000;

/** An id tells when it was made, so the log is searched around that time only; then the rest by its correlation. */
async function loggedEvents(relay: Reader, id: string): Promise<readonly StoryEvent[]> {
  const made = idTime(id);
  const near = await readLog(relay, { from: Math.max(0, made - search_ms), until: made + search_ms });
  const first = near.find(({ handoff }) => handoff === id);
  if (first === undefined) return [];
  const group = await readLog(relay, { correlation_id: first.correlation_id });
  return group.filter(({ handoff }) => handoff === id);
}

async function readLog(relay: Reader, query: Operations["log"]["query"]): Promise<readonly StoryEvent[]> {
  return readLogLines(await relay.call("log", { query })).map(eventOf);
}
