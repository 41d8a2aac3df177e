/** What must hold when everything has ended: nothing lost, nothing twice, nothing unexplained. */

import { hasEnded } from "@handfast/core";
import type { Store } from "@handfast/engine";
import type { Applied } from "../actors/sender.ts";
import { namespace } from "../namespace.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { RelayTimes } from "../world/relay-times.ts";
import type { Answers } from "./answers.ts";
import { checkBodies } from "./bodies.ts";
import { timer_slack_ms } from "./clock-witness.ts";
import type { History } from "./history.ts";
import type { Ledger } from "./ledger.ts";
import { ensure } from "./violation.ts";

interface Drained {
  readonly disk: Store;
  readonly ledger: Ledger;
  readonly answers: Answers;
  readonly applied: ReadonlyMap<string, Applied>;
  readonly times: RelayTimes;
  readonly scenario: Scenario;
}

const endStates = ["completed", "failed", "rejected", "canceled", "expired"] as const;
const deadStates: ReadonlySet<string> = new Set(["failed", "rejected", "expired"]);

export async function checkDrained(drained: Drained): Promise<void> {
  const { disk, ledger, answers, scenario } = drained;
  await ledger.compareWithDisk(disk);
  for (const id of answers.confirmed) {
    const history = ledger.histories.get(id);
    ensure(history?.hasEnded === true, "accepted has exactly one end", id, () => `${history?.state}`);
  }
  await checkCounts(disk, ledger);
  for (const [id, history] of ledger.histories) {
    checkFamily(id, history, drained);
    checkDeadLetter(id, ledger);
    checkOutcome(id, history, drained);
    if (scenario.weather === "clear") checkClear(id, history);
    if (!history.purged) checkBodies(history, await disk.bodies(namespace, id), ledger.payloadOf(history));
  }
}

async function checkCounts(disk: Store, ledger: Ledger): Promise<void> {
  const counts = await disk.counts(namespace);
  const found = new Map<string, number>();
  for (const { state, purged } of ledger.histories.values()) {
    if (!purged) found.set(state, (found.get(state) ?? 0) + 1);
  }
  for (const state of endStates) {
    ensure(
      (counts[state] ?? 0) === (found.get(state) ?? 0),
      "the store counts its states",
      "sim",
      () => `${state}: ${counts[state]}, not ${found.get(state)}`,
    );
  }
}

/** When a parent ended, its open children were canceled, unless detached. */
function checkFamily(id: string, { accepted, end }: History, { ledger, times }: Drained): void {
  const parent = accepted.causation === null ? undefined : ledger.histories.get(accepted.causation.id);
  if (parent?.end == null || end === null || accepted.detached) return;
  const late_ms = end.at - parent.end.at - timer_slack_ms;
  ensure(
    late_ms <= 0 || late_ms <= times.awayWithin(parent.end.at, end.at),
    "children end with their parent",
    id,
    () => `at ${end.at}, its parent at ${parent.end?.at}`,
  );
}

function checkDeadLetter(id: string, ledger: Ledger): void {
  const status = ledger.row(id)?.status;
  if (status === undefined || !hasEnded(status)) return;
  const dead = deadStates.has(status.state);
  ensure(dead === (status.dead_letter !== null), "every timeout is a dead letter", id, status.state);
  ensure(!status.chores.children && !status.chores.route, "no chore is left", id, () => JSON.stringify(status.chores));
  if (status.dead_letter?.status !== "redriven") return;
  const successor = ledger.histories.get(status.dead_letter.id);
  ensure(successor?.accepted.redrive_of === id, "a redriven one has its successor", id, status.dead_letter.id);
}

/** Every outcome was applied by its sender as it is stored, and confirmed; or it went by its age. */
function checkOutcome(id: string, history: History, { ledger, applied }: Drained): void {
  const status = ledger.row(id)?.status;
  if (status === undefined || !hasEnded(status) || (history.purged && !history.taken)) return;
  const { outcome } = status;
  const content = applied.get(history.accepted.from)?.outcomes.get(id);
  const stored = `${status.state} ${outcome.code} ${outcome.fence} ${outcome.content}`;
  ensure(content === stored, "every outcome reaches its sender", id, () => `applied ${content}, stored ${stored}`);
  ensure(history.taken, "every outcome is taken", id, stored);
}

/** Where nothing went wrong and there was time enough, everything is completed but for what someone canceled. */
function checkClear(id: string, { end, accepted }: History): void {
  const isExplained = end?.type === "completed" || end?.type === "canceled";
  ensure(isExplained, "in a world without faults everything is completed", id, () => {
    return `${end?.type} ${end?.code}, ${accepted.from} to ${accepted.to ?? accepted.capability}`;
  });
}
