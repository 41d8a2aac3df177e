/** Which bytes must be kept with a handoff, from what happened to it. */

import type { Body } from "@handfast/engine";
import { outcomePayload } from "../actors/outcomes.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

/** Everything that was said under a document of its own is there, once, and nothing else is. */
export function checkBodies(history: History, bodies: readonly Body[], input: Uint8Array | null): void {
  const { id } = history.accepted;
  const found = new Map(bodies.map((body) => [`${body.kind} ${body.number}`, body]));
  ensure(found.size === bodies.length, "every body is kept once", id, () => `${[...found.keys()]}`);
  const wanted = wantedBodies(history);
  for (const name of wanted) ensure(found.has(name), "every body is kept", id, () => `${name} is missing`);
  for (const [name, { kind, number }] of found) {
    // An ack may have come with the outcome, and then has no document.
    const isAck = kind === "ack" && history.acknowledged.has(number);
    ensure(wanted.has(name) || isAck, "no body is kept that nobody sent", id, () => name);
  }
  const sent = found.get("handoff 0")?.payload?.join();
  ensure(sent === input?.join(), "every body is kept", id, () => `other input: ${sent}`);
  for (const fence of saidOutcomes(history)) {
    const payload = found.get(`outcome ${fence}`)?.payload?.join();
    ensure(payload === outcomePayload(fence).join(), "the outcome's bytes are kept", id, () => `fence ${fence}`);
  }
}

function wantedBodies(history: History): ReadonlySet<string> {
  const { end, checkpoint, questions } = history;
  const wanted = new Set(["handoff 0"]);
  for (const fence of saidOutcomes(history)) wanted.add(`outcome ${fence}`);
  if (checkpoint !== null) wanted.add(`checkpoint ${checkpoint.number}`);
  for (const [number, answer] of [...questions.values()].entries()) {
    wanted.add(`question ${number}`);
    if (answer !== null) wanted.add(`answer ${number}`);
  }
  if (end?.type === "canceled" && end.by !== "relay") wanted.add("cancel 0");
  return wanted;
}

/** Fences under which a worker said what came of it. A notice ends with its ack, which is no outcome of its own. */
export function saidOutcomes({ accepted, end, outcomes, late }: History): readonly number[] {
  const fences = [...outcomes, ...late];
  if (accepted.kind !== "notice" || end?.type !== "completed") return fences;
  return fences.filter((fence) => fence !== end.fence);
}
