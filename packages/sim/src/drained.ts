/** What must hold when everything has ended. */

import { hasEnded } from "@handfast/core";
import type { Store } from "@handfast/engine";
import type { Answers } from "./answers.ts";
import { timer_slack_ms } from "./history.ts";
import { type Ledger, namespace } from "./ledger.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Applied } from "./sender.ts";
import { ensure } from "./violation.ts";

interface Drained {
  readonly disk: Store;
  readonly ledger: Ledger;
  readonly answers: Answers;
  readonly applied: ReadonlyMap<string, Applied>;
  readonly times: RelayTimes;
}

export async function checkDrained(drained: Drained): Promise<void> {
  const { disk, ledger, answers } = drained;
  await ledger.compareWithDisk(disk);
  for (const id of answers.confirmed) {
    const history = ledger.histories.get(id);
    ensure(history?.hasEnded === true, "accepted has exactly one end", id, `${history?.state}`);
  }
  ensure((await disk.openBySender()).length === 0, "nothing is open after the drain", "sim", "openBySender");
  const counts = await disk.counts(namespace);
  for (const state of ["completed", "failed", "rejected", "canceled", "expired"]) {
    const found = [...ledger.histories.values()].filter((history) => history.state === state && !history.purged).length;
    ensure(
      (counts[state] ?? 0) === found,
      "the store counts its states",
      "sim",
      `${state}: ${counts[state]}, ${found}`,
    );
  }
  checkFamilies(drained);
  checkDeadLetters(ledger);
  await checkOutcomes(drained);
}

/** When a parent ended, its open children were canceled, unless detached. */
function checkFamilies({ ledger, times }: Drained): void {
  for (const [id, { accepted, end }] of ledger.histories) {
    const parent = accepted.causation === null ? undefined : ledger.histories.get(accepted.causation.id);
    if (parent?.end == null || end === null || accepted.detached) continue;
    const slack_ms = timer_slack_ms + times.awayWithin(parent.end.at, end.at);
    ensure(
      end.at <= parent.end.at + slack_ms,
      "children end with their parent",
      id,
      `${end.at} after ${parent.end.at}`,
    );
  }
}

function checkDeadLetters(ledger: Ledger): void {
  for (const [id, history] of ledger.histories) {
    const status = ledger.row(id)?.status;
    if (status === undefined || !hasEnded(status)) continue;
    const dead = ["failed", "rejected", "expired"].includes(status.state);
    ensure(dead === (status.dead_letter !== null), "every timeout is a dead letter", id, status.state);
    ensure(!status.chores.children && !status.chores.route, "no chore is left", id, JSON.stringify(status.chores));
    if (status.dead_letter?.status !== "redriven") continue;
    const successor = ledger.histories.get(status.dead_letter.id);
    ensure(successor?.accepted.redrive_of === id, "a redriven one has its successor", id, history.state);
  }
}

/** Every outcome was applied by its sender as it is stored, and its bytes are there. */
async function checkOutcomes({ disk, ledger, applied }: Drained): Promise<void> {
  for (const [id, history] of ledger.histories) {
    const status = ledger.row(id)?.status;
    if (status === undefined || !hasEnded(status)) continue;
    const { outcome } = status;
    const content = applied.get(history.accepted.from)?.outcomes.get(id);
    const stored = `${status.state} ${outcome.code} ${outcome.fence} ${outcome.content}`;
    ensure(content === stored, "every outcome reaches its sender", id, `applied ${content}, stored ${stored}`);
    ensure(history.taken, "every outcome is taken", id, stored);
    if (status.state !== "completed" || history.accepted.kind === "notice" || history.purged) continue;
    const body = await disk.body(namespace, id, "outcome", outcome.fence ?? 0);
    ensure(body?.payload?.[0] === 7, "the outcome's bytes are kept", id, `fence ${outcome.fence}`);
  }
}
