/** One story per handoff: what the relay's log, its sender and its workers each tell of it, put side by side. */

import type { Evidence, ListedHandoff, LogEvent } from "./evidence.ts";
import type { SenderLine, WorkerLine } from "./lines.ts";

type Line<Lines, Said> = Extract<Lines, { readonly said: Said }>;
type By<Lines> = Lines & { readonly by: string };

export interface Story {
  readonly key: string;
  readonly view: ListedHandoff | null;
  readonly events: readonly LogEvent[];
  /** What was accepted as its input, and what it was completed with: the log's bytes. */
  readonly input: unknown;
  readonly output: unknown;
  readonly intent: Line<SenderLine, "intends"> | null;
  /** Of a handoff below another one, each time a worker sent it. */
  readonly sent: readonly Line<WorkerLine, "sent">[];
  readonly accepted: readonly Line<SenderLine, "accepted">[];
  readonly outcomes: readonly Line<SenderLine, "outcome">[];
  readonly taken: number;
  readonly began: readonly By<Line<WorkerLine, "began">>[];
  readonly kept: readonly By<Line<WorkerLine, "kept">>[];
  readonly did: readonly By<Line<WorkerLine, "did">>[];
}

/** Of everything that anybody ever spoke of, by key. */
export function tellStories({ log, handoffs, senders, workers }: Evidence): ReadonlyMap<string, Story> {
  const views = new Map(handoffs.map((view) => [view.id, view]));
  const logged = Map.groupBy(log, ({ event }) => event.handoff);
  const said = Map.groupBy(
    senders.flatMap(({ lines }) => lines),
    (line) => ("key" in line ? line.key : ""),
  );
  const worked = Map.groupBy(
    workers.flatMap(({ name, lines }) => lines.map((line) => ({ ...line, by: name }))),
    (line) => ("key" in line ? line.key : ""),
  );
  const ids = new Map(handoffs.map(({ id, idempotency_key }) => [idempotency_key, id]));
  const keys = new Set([...ids.keys(), ...said.keys(), ...worked.keys()]);
  keys.delete("");
  return new Map(
    [...keys].map((key) => {
      const lines = said.get(key) ?? [];
      const work = worked.get(key) ?? [];
      const history = logged.get(ids.get(key) ?? "") ?? [];
      const payload = (type: string) => history.find(({ event }) => event.type === type)?.payload?.input;
      const story: Story = {
        key,
        view: views.get(ids.get(key) ?? "") ?? null,
        events: history.map(({ event }) => event),
        input: payload("accepted"),
        output: payload("completed"),
        intent: lines.find((line) => line.said === "intends") ?? null,
        sent: work.filter((line) => line.said === "sent"),
        accepted: lines.filter((line) => line.said === "accepted"),
        outcomes: lines.filter((line) => line.said === "outcome"),
        taken: lines.filter((line) => line.said === "taken").length,
        began: work.filter((line) => line.said === "began"),
        kept: work.filter((line) => line.said === "kept"),
        did: work.filter((line) => line.said === "did"),
      };
      return [key, story];
    }),
  );
}
