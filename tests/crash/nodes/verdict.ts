/** What senders were told, held against every row of the log that all nodes wrote. */

import type { Verdict } from "../verdict.ts";
import type { Told } from "./client-load.ts";

export interface LoggedEvent {
  readonly pos: number;
  readonly handoff: string;
  readonly seq: number;
  readonly type: string;
}

const dead: ReadonlySet<string> = new Set(["failed", "expired", "rejected"]);

export function judgeNodes({ accepted, wrong }: Told, log: readonly LoggedEvent[]): Verdict {
  const lives = Map.groupBy(log, ({ handoff }) => handoff);
  const count = (id: string, type: string) => (lives.get(id) ?? []).filter((event) => event.type === type).length;
  const lost = [...accepted].filter((id) => count(id, "completed") === 0);
  const twice = [...lives.keys()].filter((id) => count(id, "completed") > 1);
  const dead_letters = log.filter(({ type }) => dead.has(type));
  const unknown = [...lives.keys()].filter((id) => !accepted.has(id));
  const gaps = log.filter(({ pos }, index) => pos !== (log[index - 1]?.pos ?? pos - 1) + 1);
  const torn = [...lives.values()].filter((events) => events.some(({ seq }, index) => seq !== index + 1));
  const of = (type: string) => log.filter((event) => event.type === type).length;
  return {
    violations: [
      ...lost.map((id) => `lost: ${id} was accepted and never completed`),
      ...twice.map((id) => `twice: ${id} was completed more than once`),
      ...dead_letters.map(({ handoff, type }) => `false dead letter: ${handoff} ${type}`),
      ...unknown.map((id) => `nobody was told of ${id}, which is in the log`),
      ...gaps.map(({ pos }) => `the log has a gap before position ${pos}`),
      ...torn.map(([event]) => `events of ${event?.handoff} are not numbered one after the other`),
      ...wrong.map((sentence) => `wrong outcome: ${sentence}`),
    ],
    figures: {
      "handoffs accepted": accepted.size,
      completed: new Set(log.filter(({ type }) => type === "completed").map(({ handoff }) => handoff)).size,
      lost: lost.length,
      "completed twice": twice.length,
      "wrong dead letters": dead_letters.length,
      "deliveries that had to be repeated": of("delivered") - accepted.size,
      "late outcomes kept": of("late"),
    },
  };
}
