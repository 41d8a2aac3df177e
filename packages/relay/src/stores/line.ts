/**
 * One thing that a store keeps, as one line of JSON, `{"event":{…}}`. The members stand in one order, so that the same thing
 * gives the same line whichever store it was read from; events and values of records are texts inside, byte for byte.
 */

import { type Body, type Kept, type KeptOf, parseState, stateJson } from "@handfast/engine";

export function lineOf(kept: Kept): string {
  switch (kept.table) {
    case "log":
      return `{"log":${JSON.stringify({ floor: kept.floor, latest: kept.latest })}}`;
    case "record": {
      const { namespace, kind, key, version, json } = kept;
      return `{"record":${JSON.stringify({ namespace, kind, key, version, json })}}`;
    }
    case "handoff":
      return `{"handoff":${handoffText(kept)}}`;
    case "body":
      return `{"body":${JSON.stringify({ pos: kept.pos, ...bodyLine(kept.body) })}}`;
    case "key": {
      const { namespace, sender, key, id, content, until } = kept;
      return `{"key":${JSON.stringify({ namespace, sender, key, id, content, until })}}`;
    }
    case "event": {
      const { pos, namespace, handoff, correlation_id, at, json } = kept;
      return `{"event":${JSON.stringify({ pos, namespace, handoff, correlation_id, at, json })}}`;
    }
    default:
      throw new TypeError(`nothing known is kept: ${JSON.stringify(kept satisfies never)}`);
  }
}

function handoffText({ pos, handoff, find, body, artifacts }: KeptOf<"handoff">): string {
  const { open, queue, rank, wake_at, lane, holder, last_agent, untaken, dead_letter, question_to } = find;
  const found = { open, queue, rank, wake_at, lane, holder, last_agent, untaken, dead_letter, question_to };
  const rest = JSON.stringify({ find: found, body: body === null ? null : bodyLine(body), artifacts }).slice(1);
  return `{"pos":${pos},"accepted":${JSON.stringify(handoff.accepted)},"state":${stateJson(handoff)},${rest}`;
}

interface BodyLine extends Omit<Body, "payload"> {
  /** Base64. */
  readonly payload: string | null;
}

function bodyLine({ kind, number, document, proof, payload }: Body): BodyLine {
  return { kind, number, document, proof, payload: payload === null ? null : Buffer.from(payload).toString("base64") };
}

function bodyOf({ kind, number, document, proof, payload }: BodyLine): Body {
  return { kind, number, document, proof, payload: payload === null ? null : Buffer.from(payload, "base64") };
}

/** Only for lines of a file whose digest was checked: they are ours, and what they hold needs no second look. */
export function keptOf(line: string): Kept {
  const [entry] = Object.entries(JSON.parse(line));
  if (entry === undefined) throw new TypeError("a line without anything in it");
  const [table, row] = entry as LineEntry;
  switch (table) {
    case "handoff": {
      const { pos, accepted, state, find, body, artifacts } = row;
      const handoff = { ...parseState(JSON.stringify(state)), accepted };
      return { table, pos, handoff, find, body: body === null ? null : bodyOf(body), artifacts };
    }
    case "body": {
      const { pos, ...body } = row;
      return { table, pos, body: bodyOf(body) };
    }
    default:
      return { table, ...row } as Kept;
  }
}

type Row<Table extends Kept["table"]> = Omit<KeptOf<Table>, "table">;
type LineEntry =
  | ["log", Row<"log">]
  | ["record", Row<"record">]
  | ["key", Row<"key">]
  | ["event", Row<"event">]
  | ["body", { readonly pos: number } & BodyLine]
  | [
      "handoff",
      Omit<Row<"handoff">, "handoff" | "body"> & {
        readonly accepted: KeptOf<"handoff">["handoff"]["accepted"];
        readonly state: unknown;
        readonly body: BodyLine | null;
      },
    ];
