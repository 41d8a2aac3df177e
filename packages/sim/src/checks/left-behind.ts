/** After everything has ended the store holds nothing but what is to be kept, and the engine nothing at all. */

import type { Engine, Store } from "@handfast/engine";
import { outcomeArtifacts } from "../actors/outcomes.ts";
import { namespace } from "../namespace.ts";
import type { Directory } from "../world/directory.ts";
import { saidOutcomes } from "./bodies.ts";
import type { Ledger } from "./ledger.ts";
import { ensure } from "./violation.ts";

interface LeftBehind {
  readonly disk: Store;
  readonly ledger: Ledger;
  readonly directory: Directory;
  /** The relay that runs now. */
  readonly engine: Engine;
}

const page = 10_000;

export async function checkNothingLeft({ disk, ledger, directory, engine }: LeftBehind): Promise<void> {
  const none = (found: readonly unknown[], what: string) =>
    ensure(found.length === 0, "nothing is left behind in the store", "sim", () => `${what}: ${JSON.stringify(found)}`);
  none(await disk.openBySender(), "open handoffs");
  for (const lane of ledger.lanes.names) none(await disk.laneMembers(namespace, lane, 1), `lane ${lane}`);
  for (const agent of directory.agents) {
    const queues = [...directory.queues(agent)];
    none(await disk.candidates({ namespace, queues, agent: agent.name, limit: 1 }), `ready for ${agent.name}`);
  }
  for (const holder of holders(ledger)) {
    const [agent = "", worker = ""] = holder.split(" ");
    none(await disk.held(namespace, agent, worker), `held by ${worker}`);
  }
  const list = { namespace, order: "oldest", limit: 1 } as const;
  none((await disk.list({ ...list, question_to: ["", "desk"] })).handoffs, "questions");
  none((await disk.list({ ...list, untaken: true })).handoffs, "untaken outcomes");
  await checkTimers(disk, ledger);
  await checkArtifacts(disk, ledger);
  const { pending_jobs, open_handoffs } = engine.stats();
  ensure(
    pending_jobs === 0 && open_handoffs === 0,
    "nothing is left behind in the engine",
    "sim",
    () => `${pending_jobs} jobs, ${open_handoffs} handoffs`,
  );
}

function holders(ledger: Ledger): ReadonlySet<string> {
  const names = new Set<string>();
  for (const history of ledger.histories.values()) {
    for (const { agent, worker } of history.holders.values()) names.add(`${agent} ${worker}`);
  }
  return names;
}

/** The next timer, if any, is that of retention. */
async function checkTimers(disk: Store, ledger: Ledger): Promise<void> {
  const next = await disk.nextDue();
  const due = next === null ? [] : await disk.due(next, page);
  for (const { id } of due) {
    const history = ledger.histories.get(id);
    ensure(
      history?.hasEnded === true && (next ?? 0) > (history.end?.at ?? 0),
      "nothing is left behind in the store",
      id,
      () => `a timer for ${next}, it ended at ${history?.end?.at}`,
    );
  }
}

/** Artifacts are kept with what refers to them, and no longer. */
async function checkArtifacts(disk: Store, ledger: Ledger): Promise<void> {
  const referring = new Map<string, Set<string>>();
  for (const [id, history] of ledger.histories) {
    const given = saidOutcomes(history).flatMap(outcomeArtifacts);
    for (const name of [...history.accepted.artifacts, ...given]) {
      const ids = referring.get(name) ?? new Set();
      referring.set(name, ids);
      if (!history.purged) ids.add(id);
    }
  }
  for (const [name, ids] of referring) {
    const found = await disk.referrers(namespace, name, page);
    ensure(
      found.length === ids.size && found.every((id) => ids.has(id)),
      "artifacts are kept with what refers to them",
      name,
      () => `${found.length} refer to it, not ${ids.size}`,
    );
  }
}
