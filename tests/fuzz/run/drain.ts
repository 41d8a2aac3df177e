/** Ends everything that is open, as an operator would, so that afterwards nothing may be left. */

import { setTimeout } from "node:timers/promises";
import { isObject } from "../json/schema-values.ts";

const open_states = ["queued", "delivered", "working", "waiting"] as const;
const at_once = 64;
const pause_ms = 200;
const drained_within_ms = 120_000;

export async function drain(url: string, operator_token: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${operator_token}`, "content-type": "application/json" };
  const until = performance.now() + drained_within_ms;
  for (let empty_looks = 0; empty_looks < 3; ) {
    const ids = (await Promise.all(open_states.map((state) => openOnes(url, headers, state)))).flat();
    // What has ended may still leave a chore: children to be called off, a dead letter to be sent on.
    empty_looks = ids.length === 0 ? empty_looks + 1 : 0;
    for (let at = 0; at < ids.length; at += at_once) {
      await Promise.all(ids.slice(at, at + at_once).map((id) => cancel(url, headers, id)));
    }
    if (performance.now() > until)
      return `${ids.length} handoffs do not end, though they were called off: ${ids.slice(0, 5).join(", ")}`;
    await setTimeout(pause_ms);
  }
  return null;
}

async function openOnes(url: string, headers: Record<string, string>, state: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/v1/handoffs?state=${state}&limit=500`, { headers });
  const page: unknown = await response.json();
  if (!isObject(page) || !Array.isArray(page["handoffs"]))
    throw new Error(`no list of handoffs: ${JSON.stringify(page)}`);
  return page["handoffs"].map(({ id }) => String(id));
}

async function cancel(url: string, headers: Record<string, string>, id: string): Promise<void> {
  const response = await fetch(`${url}/v1/handoffs/${id}/cancel`, { method: "POST", headers, body: "{}" });
  await response.text();
  if (!response.ok && response.status !== 404) throw new Error(`${id} cannot be called off: ${response.status}`);
}
