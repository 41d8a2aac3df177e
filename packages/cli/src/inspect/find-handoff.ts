/** Handoffs by an abbreviated id: its beginning or its end, where only one of the recent ones fits. */

import { isId } from "@handfast/protocol/client";
import { CliError } from "../errors.ts";
import { ago } from "../moments.ts";
import { targetName } from "./names.ts";
import { nearest } from "./nearest.ts";
import { codeOf, type Reader } from "./relay-reads.ts";

const recent = 500;
const chars_least = 4;

export async function fullId(relay: Reader, given: string): Promise<string> {
  const text = given.trim().toLowerCase();
  const isWhole: boolean = isId(text);
  if (isWhole) return text;
  if (!/^[0-9a-f-]+$/.test(text) || text.length < chars_least || text.length > 36) {
    throw new CliError(
      "usage",
      `${JSON.stringify(given)} is no id of a handoff.`,
      `Give a UUID, or at least ${chars_least} characters of its beginning or end; find it: handfast list`,
    );
  }
  const { handoffs } = await relay.call("list", { query: { order: "newest", limit: recent } });
  const fitting = handoffs.filter(({ id }) => id.startsWith(text) || id.endsWith(text));
  const [one, ...others] = fitting;
  if (one !== undefined && others.length === 0) return one.id;
  if (one === undefined) {
    const guess = nearest(
      text,
      handoffs.map(({ id }) => id),
    );
    const hint = guess === null ? "Give the whole id, or find it: handfast list" : `Did you mean ${guess}?`;
    throw new CliError("missing", `None of the newest ${handoffs.length} handoffs has an id like ${given}.`, hint);
  }
  const shown = fitting
    .slice(0, 5)
    .map((each) => `${each.id}  ${targetName(each)}  ${ago(each.accepted_at, Date.now())}`);
  throw new CliError(
    "usage",
    `${fitting.length} handoffs have an id like ${given}.`,
    `Give more of it:\n${shown.join("\n")}`,
  );
}

/** A correlation by its id, or by any handoff of it. */
export async function fullCorrelation(relay: Reader, given: string): Promise<string> {
  try {
    const { correlation_id } = await relay.call("correlation", { params: { id: given } });
    return correlation_id;
  } catch (unknown) {
    if (codeOf(unknown) !== 404) throw unknown;
    const id = await fullId(relay, given).catch(() => null);
    if (id === null) throw unknown;
    return (await relay.call("get", { params: { id } })).correlation_id;
  }
}
