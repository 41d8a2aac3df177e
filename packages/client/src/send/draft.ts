/** From what a sender writes to the handoff's document, as far as it can be told before it is signed. */

import type { Artifact, Limits } from "@handfast/protocol";
import { isName, isTextId, makeId, protocolLimits } from "@handfast/protocol/client";
import type { Draft } from "../acts.ts";
import type { Base } from "../base.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { present } from "../present.ts";
import { readSchema } from "../serve/schema.ts";
import { shown } from "../shown.ts";
import { usage } from "./faults.ts";
import { checkJson, checkText } from "./json-input.ts";
import type { SendOptions, Target } from "./options.ts";
import type { Parent } from "./parent.ts";

export interface Said {
  readonly kind: "handoff" | "notice";
  readonly target: Target;
  readonly input: unknown;
  readonly options: SendOptions;
  readonly artifacts: readonly Artifact[];
}

/** Ids that stand in this order: of handoffs that are accepted together, workers get the one with the lesser id first. */
export function makeIds({ surroundings }: Base, count: number): readonly string[] {
  const now = surroundings.now();
  return Array.from({ length: count }, () => makeId(now, surroundings.randomBytes(10))).sort();
}

/** The id is the sender's: every repeat of the call, by whatever link, then means the same handoff. */
export function draftOf(id: string, said: Said, parent: Parent | null): Draft {
  const { kind, target, input, options, artifacts } = said;
  const limits = limitsOf(options);
  const terms = present({
    kind: kind === "notice" ? kind : undefined,
    ...targetOf(target),
    version: rangeOf(options.version),
    idempotency_key: textId("idempotencyKey", options.idempotencyKey),
    correlation_id: textId("correlation", options.correlation) ?? parent?.correlation_id,
    causation: parent === null ? undefined : { id: parent.id, fence: parent.fence },
    conversation_id: textId("conversation", options.conversation) ?? parent?.conversation_id ?? undefined,
    detached: parent === null ? undefined : options.detached,
    ordering_key: textId("orderingKey", options.orderingKey),
    priority: whole("priority", options.priority, 0, 9),
    labels: labelsOf(options.labels),
    expects:
      options.expects === undefined
        ? undefined
        : { output_schema: readSchema(options.expects, "output", "expects").json },
    contract: textId("contract", options.contract),
    limits: Object.keys(limits).length === 0 ? undefined : limits,
    budget: options.budget,
    dead_letter_to: options.deadLetterTo === undefined ? undefined : named("deadLetterTo", options.deadLetterTo),
    evidence: options.evidence,
    queue_if_absent: options.queueIfAbsent,
    artifacts: artifacts.length === 0 ? undefined : [...artifacts],
    traceparent: options.traceparent ?? parent?.traceparent,
    ext: options.ext,
  });
  checkJson(terms, "What is said beside the input");
  return { id, ...terms, ...payloadOf(input, options.text ?? false) };
}

function targetOf(target: Target): { to?: string; capability?: string } {
  if (typeof target === "string") return { capability: named("capability", target) };
  const remedy = 'Name a capability ("web_research") or an agent ({ to: "research-1" }).';
  if (typeof target !== "object" || target === null) throw usage(`The target is ${shown(target)}.`, remedy);
  const { to, capability, ...strange } = target;
  const [unknown] = Object.keys(strange);
  if (unknown !== undefined) throw usage(`A target has no ${shown(unknown)}.`, remedy);
  if (to === undefined && capability === undefined) throw usage("The handoff has no target.", remedy);
  return present({
    to: to === undefined ? undefined : named("to", to),
    capability: capability === undefined ? undefined : named("capability", capability),
  });
}

function named(option: string, value: string): string {
  if (isName(value)) return value;
  throw usage(
    `${shown(value)} is no name (${option}).`,
    "A name has up to 128 letters, digits, dots, underscores and hyphens, and begins with a letter or digit.",
  );
}

function rangeOf(range: string | undefined): string | undefined {
  const most = protocolLimits.version_range_chars;
  if (range === undefined || (typeof range === "string" && range.length > 0 && range.length <= most)) return range;
  throw usage(
    `The option version is ${shown(range)}.`,
    `Give a range of versions of up to ${most} characters, as "^1.2".`,
  );
}

function textId(option: string, value: string | undefined): string | undefined {
  if (value === undefined || isTextId(value)) return value;
  throw usage(`The option ${option} is ${shown(value)}.`, "Give 1 to 256 characters without control characters.");
}

function whole(option: string, value: number | undefined, least: number, most: number): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return value;
  throw usage(`The option ${option} is ${shown(value)}.`, `Give a whole number from ${least} to ${most}.`);
}

function labelsOf(labels: SendOptions["labels"]): Record<string, string> | undefined {
  if (labels === undefined) return undefined;
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) {
    throw usage(`The option labels is ${shown(labels)}.`, 'Give an object of strings, such as { team: "blue" }.');
  }
  const wrong = Object.entries(labels).find(([key, value]) => key.includes(":") || typeof value !== "string");
  if (wrong === undefined) return { ...labels };
  throw usage(`The label ${shown(wrong[0])} does not fit.`, "Keys have no colon, and values are strings.");
}

export function limitsOf(options: SendOptions): Limits {
  const { timeout, queue, ack, lease, attempt, attempts, retry } = options;
  return present({
    deadline_ms: span("timeout", timeout),
    queue_ms: span("queue", queue),
    ack_ms: span("ack", ack),
    lease_ms: span("lease", lease, protocolLimits.lease_least_ms),
    attempt_ms: span("attempt", attempt),
    max_attempts: whole("attempts", attempts, 1, protocolLimits.attempts),
    retry,
  });
}

function span(option: string, value: Duration | undefined, least = 1): number | undefined {
  if (value === undefined) return undefined;
  const ms = toMilliseconds(value, `The option ${option}`);
  const most = protocolLimits.duration_ms;
  if (ms >= least && ms <= most) return ms;
  throw usage(`The option ${option} is ${shown(value)}.`, `Give a time from ${least} ms to 30 days.`);
}

function payloadOf(input: unknown, is_text: boolean): { text: string } | { input: unknown } {
  if (is_text) {
    checkText(input);
    return { text: input };
  }
  if (input === undefined) throw usage("The handoff has no input.", "Give null where there is nothing to say.");
  checkJson(input);
  return { input };
}
