/** Offering a queued handoff to a worker, and what may change while it is queued. */

import { type Change, refusal } from "./change.ts";
import type { Command, Decision } from "./command.ts";
import { endByRelay } from "./end.ts";
import type { Handoff, Holder, Queued } from "./handoff.ts";

type Deliver = Extract<Command, { type: "deliver" }>;
type Exclude = Extract<Command, { type: "exclude" }>;

export function deliver(change: Change, command: Deliver): Decision {
  const { handoff, now, context } = change;
  const { accepted, status } = handoff;
  if (status.state !== "queued" || status.blocked || status.ready_at > now) {
    return change.refused(refusal(412, "not_ready", `handoff ${accepted.id} is not ready for delivery`));
  }
  if (handoff.excluded.includes(command.agent) || (accepted.to !== null && accepted.to !== command.agent)) {
    return change.refused(refusal(403, "not_for_agent", `handoff ${accepted.id} is not for agent ${command.agent}`));
  }
  const fence = handoff.fence + 1;
  const { agent, worker, request_id, manifest, why } = command;
  const promised_ms = command.attempt_ms ?? context.limits.default_attempt_ms;
  const attempt_left_ms = handoff.continues_ms ?? accepted.terms.attempt_ms ?? promised_ms;
  change.set({
    fence,
    holders: [...handoff.holders, { fence, agent, worker, ...taken(handoff, status, agent) }].slice(
      -context.limits.max_holders_kept,
    ),
    prefer: null,
    why,
    status: {
      state: "delivered",
      lease: {
        fence,
        agent,
        worker,
        request_id,
        manifest,
        delivered_at: now,
        acknowledged_at: null,
        beat_at: now,
        attempt_until: null,
        attempt_left_ms,
        promised_ms,
        until_ack: accepted.terms.retry === "until_ack" || !command.idempotent,
        continued: handoff.continues_ms !== null,
        unfit: 0,
        unfit_content: null,
      },
    },
  });
  change.emit({ type: "delivered", code: 210, agent, worker, fence, why });
  return change.done();
}

/** Another agent held it last: what it is shown from now on. */
function taken(handoff: Handoff, status: Queued, agent: string): Pick<Holder, "before"> {
  const last = handoff.holders.at(-1);
  if (last === undefined || last.agent === agent) return {};
  const { version, seq, attempts, deliveries, checkpoint, spent, charged_for, charged_by } = handoff;
  return {
    before: {
      version,
      seq,
      status,
      attempts,
      deliveries,
      checkpoint,
      spent,
      ...(charged_for === undefined ? {} : { charged_for }),
      ...(charged_by === undefined ? {} : { charged_by }),
    },
  };
}

/** The agent's manifest changed since the submit, and the input does not fit it any more. */
export function exclude(change: Change, command: Exclude): Decision {
  const { handoff } = change;
  if (handoff.status.state !== "queued" || handoff.excluded.includes(command.agent)) return change.done();
  change.set({ excluded: [...handoff.excluded, command.agent] });
  change.emit({ type: "excluded", agent: command.agent, error: command.error });
  if (nobodyLeft(change)) endByRelay(change, "rejected", 501, command.error, null);
  return change.done();
}

/** Whether nobody may take it any more. Too many exclusions end it, too: none may ever be forgotten. */
export function nobodyLeft({ handoff, context }: Change): boolean {
  return handoff.accepted.to !== null || context.others === 0 || handoff.excluded.length >= context.limits.max_excluded;
}

/** It is now the first of its lane: its queue clock starts. */
export function unblock(change: Change): Decision {
  const { handoff, now } = change;
  const { status } = handoff;
  if (status.state !== "queued" || !status.blocked) return change.done();
  change.set({
    status: { state: "queued", ready_at: now, queue_until: now + handoff.accepted.terms.queue_ms, blocked: false },
    ...(handoff.accepted.contract === undefined ? {} : { unblocked_at: now }),
  });
  change.emit({ type: "unblocked" });
  return change.done();
}
