/** Why a handoff is queued: behind another, backing off, for want of an agent, of a worker, or of a free slot. */

import { isInRange } from "@handfast/protocol/client";
import type { AgentView, HandoffView } from "@handfast/protocol/wire";
import { ago, moment, span } from "../../moments.ts";
import { type Presence, presenceOf } from "../../operate/presence.ts";
import { counted, holderWords, listed, targetWords } from "../names.ts";
import { shorten } from "../payload-text.ts";
import type { StoryEvent } from "../story-event.ts";
import type { Facts, Why } from "./facts.ts";

/** So long another worker or agent is preferred after a loss, and the one that asked after an answer (spec/handoffs.md). */
const preference_ms = 10_000;
/** What is free is offered at once: what waits longer beside somebody who asks is held back. */
const held_back_ms = 2_000;
const message_chars = 120;

export function whyQueued(view: HandoffView, facts: Facts): Why {
  const { now, head } = facts;
  if (view.blocked) return head === null ? behindUnseen(view, facts) : behind(view, head, facts);
  if (view.ready_at !== null && view.ready_at > now) return backingOff(view, view.ready_at, facts);
  if (facts.agents.length === 0) return nobodyOffers(view, facts);
  const excluded = exclusions(facts.events);
  const able = facts.agents.filter(({ name }) => !excluded.has(name));
  if (able.length === 0) return everybodyExcluded(view, excluded, facts);
  const within = able.filter((agent) => offersVersion(agent, view));
  if (within.length === 0) return nobodyInRange(view, able, facts);
  const there = (presence: Presence) => within.filter((agent) => workersOf(agent, presence, now).length > 0);
  const asking = there("asking");
  if (asking.length > 0) return avoidsTheOnlyOne(view, asking, facts) ?? aboutToGo(view, asking, facts);
  const recent = there("recent");
  return recent.length > 0 ? nobodyAsks(view, recent, facts) : nobodyPresent(view, within, facts);
}

function behind(view: HandoffView, head: HandoffView, { now }: Facts): Why {
  const held =
    head.lease === null ? head.state : `${head.state} at ${holderWords(head.lease.agent, head.lease.worker)}`;
  const key = JSON.stringify(view.ordering_key);
  return {
    sentence: `Queued behind handoff ${head.id} (${held}), the head of its ordering key ${shorten(key, 60)}: it moves when that one ends, by ${moment(head.deadline_at, now)} at the latest.`,
    next: [`handfast why ${head.id}`],
  };
}

function behindUnseen(view: HandoffView, facts: Facts): Why {
  const key = JSON.stringify(view.ordering_key);
  return {
    sentence: `Queued behind an earlier handoff of its ordering key ${shorten(key, 60)} that you have no part in: it moves when that one ends, and its own deadline is ${moment(view.deadline_at, facts.now)}.`,
    next: [`handfast watch ${view.id}`],
  };
}

function backingOff(view: HandoffView, ready_at: number, { now, events }: Facts): Why {
  const { attempts, limits } = view;
  const cause = events.findLast(({ type }) => type === "requeued");
  const failed = cause?.why === "attempt_timeout" ? "ran past its time limit" : "failed";
  const said = cause?.error ? ` (${shorten(cause.error.message, message_chars)})` : "";
  return {
    sentence: `Backing off until ${moment(ready_at, now)} because attempt ${attempts} of ${limits.max_attempts} ${failed}${said}: attempt ${attempts + 1} begins then.`,
    next: [`handfast watch ${view.id}`],
  };
}

function nobodyOffers(view: HandoffView, facts: Facts): Why {
  const { to, capability } = view;
  const missing =
    to === null
      ? `no agent offers capability ${capability}`
      : capability === null
        ? `no agent named ${to} is known`
        : `agent ${to} does not offer ${capability}`;
  return {
    sentence: `Queued because ${missing}: it goes to the first that does, and ${expiry(view, facts)}.`,
    next: [serveLine(view)],
  };
}

function everybodyExcluded(view: HandoffView, excluded: ReadonlyMap<string, string>, facts: Facts): Why {
  const told = facts.agents.map(({ name }) => `${name} ${excluded.get(name) ?? "is excluded"}`);
  return {
    sentence: `Queued because everybody who offers ${targetWords(view)} is excluded from it: ${listed(told)}; another agent must offer it, and it ${expiry(view, facts)}.`,
    next: [serveLine(view)],
  };
}

function offersVersion(agent: AgentView, { capability, version_range }: HandoffView): boolean {
  return version_range === null || isInRange(versionOf(agent, capability), version_range);
}

function versionOf({ capabilities }: AgentView, capability: string | null): string | undefined {
  return capabilities.find(({ name }) => name === capability)?.version;
}

function nobodyInRange(view: HandoffView, able: readonly AgentView[], facts: Facts): Why {
  const offered = able.map((agent) => `${agent.name} ${versionOf(agent, view.capability) ?? "no version"}`);
  return {
    sentence: `Queued because nobody offers ${targetWords(view)} in version ${view.version_range} (${listed(offered)}): it goes to the first that does, and ${expiry(view, facts)}.`,
    next: ["handfast agents"],
  };
}

function nobodyPresent(view: HandoffView, able: readonly AgentView[], facts: Facts): Why {
  const seen = able.flatMap(({ last_seen_at }) => (last_seen_at === null ? [] : [last_seen_at]));
  const heard =
    seen.length === 0
      ? "none was heard of since the relay started"
      : `last heard of ${ago(Math.max(...seen), facts.now)}`;
  const names = listed(able.map(({ name }) => name));
  return {
    sentence: `Queued because nobody is asking for it: no worker of ${names} is there (${heard}); it goes to the first that does, and ${expiry(view, facts)}.`,
    next: [serveLine(view), "handfast agents"],
  };
}

/** After a loss the relay rather waits for another worker, if another is connected; the preference ends by itself. */
function avoidsTheOnlyOne(view: HandoffView, asking: readonly AgentView[], facts: Facts): Why | null {
  const last = facts.events.findLast(({ type }) => type === "requeued");
  if (last === undefined) return null;
  const preferred_until = (last.ready_at ?? last.at) + preference_ms;
  if (facts.now >= preferred_until) return null;
  const until = moment(preferred_until, facts.now);
  if (last.why === "failed" || last.why === "attempt_timeout") {
    return {
      sentence: `Queued again because agent ${last.agent ?? ""} failed at it: another agent is preferred until ${until}, then anybody may have it.`,
      next: [`handfast watch ${view.id}`],
    };
  }
  if (last.why === "answered") {
    const asker = facts.events.findLast(({ type }) => type === "asked")?.agent;
    if (!asker || !asking.some(({ name }) => name === asker)) return null;
    return {
      sentence: `Queued again with its answer, and kept for agent ${asker}, which asked, until ${until}: it is offered there as soon as a slot is free, then to anybody.`,
      next: [`handfast watch ${view.id}`],
    };
  }
  if (last.why !== "unacknowledged" && last.why !== "lease_lost") return null;
  const lost = last.why === "lease_lost" ? "lost its lease" : "did not acknowledge it";
  return {
    sentence: `Queued again because ${holderWords(last.agent ?? "", last.worker)} ${lost}: another worker is preferred until ${until}, then anybody may have it.`,
    next: [`handfast watch ${view.id}`],
  };
}

/** Workers ask, and it is not theirs yet: what is accepted is offered at once, so this is a moment in between. */
function aboutToGo(view: HandoffView, asking: readonly AgentView[], facts: Facts): Why {
  const names = listed(asking.map(({ name }) => name));
  const count = asking.reduce((sum, agent) => sum + workersOf(agent, "asking", facts.now).length, 0);
  const held =
    facts.now - (view.ready_at ?? view.accepted_at) > held_back_ms
      ? "routing holds it back (an agent that asks has no room, is too slow for what is left of the deadline, or is breached or ejected while another lives, or it waits for the agent that served its lane or conversation)"
      : "it goes to the first free slot";
  return {
    sentence: `Queued since ${since(view, facts)}, and ${counted(count, "worker")} of ${names} ${count === 1 ? "is" : "are"} asking for work: ${held}, and ${expiry(view, facts)}.`,
    next: [`handfast watch ${view.id}`, "handfast agents"],
  };
}

/** Whoever has no open claim is busy or has just left; what it holds tells, as far as the caller may see that. */
function nobodyAsks(view: HandoffView, recent: readonly AgentView[], facts: Facts): Why {
  const names = new Set(recent.map(({ name }) => name));
  const workers = recent.flatMap((agent) => workersOf(agent, "recent", facts.now));
  const held = facts.held.filter(({ lease }) => lease !== null && names.has(lease.agent));
  const who =
    workers.length === 1
      ? `worker ${workers[0]} of ${listed([...names])}`
      : `each of the ${counted(workers.length, "worker")} of ${listed([...names])}`;
  const heard = Math.max(...recent.flatMap(({ last_seen_at }) => last_seen_at ?? []));
  const why =
    held.length === 0
      ? `is busy or just left (last heard of ${ago(heard, facts.now)})`
      : `is busy: ${held.length === 1 ? "1 open handoff is" : `${held.length} open handoffs are`} held there`;
  return {
    sentence: `Queued since ${since(view, facts)} because nobody is asking for it: ${who} ${why}; it goes to the first free slot, and ${expiry(view, facts)}.`,
    next: held.length === 0 ? [serveLine(view), "handfast agents"] : [`handfast watch ${view.id}`, "handfast agents"],
  };
}

function since({ ready_at, accepted_at }: HandoffView, { now }: Facts): string {
  return span(now - (ready_at ?? accepted_at));
}

function workersOf({ workers }: AgentView, presence: Presence, now: number): readonly string[] {
  return workers.filter((worker) => presenceOf(worker, now) === presence).map(({ worker }) => worker);
}

/** Who may not have it any more, and why. Exclusions made when it was accepted are not told by the relay. */
function exclusions(events: readonly StoryEvent[]): ReadonlyMap<string, string> {
  const excluded = new Map<string, string>();
  for (const { type, why, agent, error } of events) {
    if (!agent) continue;
    const said = error ? ` (${shorten(error.message, message_chars)})` : "";
    if (type === "requeued" && why === "rejected") excluded.set(agent, `rejected it${said}`);
    if (type === "excluded") excluded.set(agent, `changed its schema so that the input does not fit${said}`);
  }
  return excluded;
}

/** "expires at 12:00:05Z (in 4 min) if none comes": by the queue clock or by the deadline, whichever is first. */
function expiry({ queue_until: told, deadline_at }: HandoffView, { now }: Facts): string {
  const queue_until = told ?? deadline_at;
  const code = queue_until < deadline_at ? 503 : 408;
  return `expires with ${code} at ${moment(Math.min(queue_until, deadline_at), now)} otherwise`;
}

function serveLine({ to, capability }: HandoffView): string {
  const agent = to === null ? "" : ` --agent ${to}`;
  return `handfast serve ${capability ?? "CAPABILITY"}${agent} -- COMMAND`;
}
