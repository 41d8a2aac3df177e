/**
 * Which session sent a handoff, written on the handoff itself: the relay keeps it, so that an outcome finds its session
 * after any restart. The gateway is named too: another one of the same agent must not answer for sessions it has not.
 */

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HandoffView } from "@handfast/client";
import type { ToolContext } from "../openclaw.ts";

const gateway_label = "openclaw.gateway";
const session_label = "openclaw.session";
const channel_label = "openclaw.channel";
/** The longest value of a label. */
const label_chars = 256;

export function originLabels(
  gateway: string,
  { sessionKey = "", deliveryContext }: ToolContext,
): Record<string, string> {
  const parts = sessionKey.match(new RegExp(`[^]{1,${label_chars}}`, "g")) ?? [];
  return Object.fromEntries([
    [gateway_label, gateway],
    ...(deliveryContext?.to === undefined ? [] : [[channel_label, deliveryContext.channel ?? ""]]),
    ...parts.map((part, index) => [index === 0 ? session_label : `${session_label}.${index}`, part]),
  ]);
}

/** The key of the session that sent it; null: it was not sent from this gateway. */
export function originOf({ labels }: Pick<HandoffView, "labels">, gateway: string): string | null {
  if (labels[gateway_label] !== gateway) return null;
  let key = labels[session_label] ?? "";
  for (let index = 1; labels[`${session_label}.${index}`] !== undefined; index += 1) {
    key += labels[`${session_label}.${index}`];
  }
  return key === "" ? null : key;
}

/** Whether that session talks to somebody over a channel, to whom a reply can go. */
export function hasChannel({ labels }: Pick<HandoffView, "labels">): boolean {
  return labels[channel_label] !== undefined;
}

/** This gateway's name for itself: made once, kept in its state folder. */
export function gatewayId(stateDir: string): string {
  const folder = join(stateDir, "handfast");
  const file = join(folder, "gateway-id");
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, randomUUID(), { flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return readFileSync(file, "utf8").trim();
}

interface Call {
  /** The session. */
  readonly scope: string;
  /** The tool call, or what the model named the work. */
  readonly key: string;
  readonly content: unknown;
}

/** The same call of the same session is the same handoff, however often it is made. */
export function keyOf(gateway: string, { scope, key, content }: Call): string {
  return `openclaw-${createHash("sha256")
    .update(JSON.stringify([gateway, scope, key, content]))
    .digest("hex")}`;
}
