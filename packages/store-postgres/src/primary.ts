/**
 * Which of the hosts in the URL is the primary. All are asked at once, and the first of them in the URL's order is taken, so that nodes
 * agree also where a lost primary has come back as one. The client's own search (`target_session_attrs`) connects again and
 * again without a pause while there is none, with each of a node's connections: some thousand connections a second, at a standby
 * that is about to be promoted.
 */

import { setTimeout as pause } from "node:timers/promises";
import { WritingConnection } from "./connection.ts";
import { codeOf, explain, noPrimary, PostgresStoreError } from "./errors.ts";
import { recover_pause_ms } from "./limits.ts";
import type { Host, Place } from "./place.ts";
import { truth } from "./rows.ts";

export interface ToPrimary {
  readonly writer: WritingConnection;
  readonly host: Host;
}

/** A host that is alone is not asked what it is: that is for whoever looks at the server as a whole. */
export async function connectToPrimary(place: Place, patience_ms: number): Promise<ToPrimary> {
  const [host, ...others] = place.hosts;
  if (host !== undefined && others.length === 0) return { writer: await WritingConnection.open(host), host };
  const until = performance.now() + patience_ms;
  for (;;) {
    const found = await lookAround(place);
    if (!(found instanceof PostgresStoreError)) return found;
    if (!found.is_away || performance.now() >= until) throw found;
    await pause(recover_pause_ms);
  }
}

type Answer = ToPrimary | { readonly said: string; readonly error: unknown };

async function lookAround(place: Place): Promise<ToPrimary | PostgresStoreError> {
  const asked = place.hosts.map((host) => ask(host));
  const said: string[] = [];
  let refused: PostgresStoreError | null = null;
  for (const [nth, asking] of asked.entries()) {
    const answer = await asking;
    if ("writer" in answer) {
      for (const later of asked.slice(nth + 1)) void later.then(cutIfOpen);
      return answer;
    }
    said.push(answer.said);
    const error = explain(answer.error, place.shown);
    // Time does not mend it (a password, rights): that one says what to do.
    if (!(error instanceof PostgresStoreError)) throw error;
    if (!error.is_away) refused ??= error;
  }
  return refused ?? noPrimary(place.shown, said);
}

/** Never fails: the others are not waited for once one is the primary. */
async function ask(host: Host): Promise<Answer> {
  try {
    const writer = await WritingConnection.open(host);
    try {
      const [row] = await writer.ask("SELECT pg_is_in_recovery() AS is_standby");
      if (!truth(row, "is_standby")) return { writer, host };
    } catch (error) {
      await writer.cut();
      throw error;
    }
    await writer.cut();
    const error = new PostgresStoreError("read_only", `${host.name} is a standby.`);
    return { said: `${host.name} is a standby`, error };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { said: `${host.name} does not answer (${codeOf(error) || why})`, error };
  }
}

async function cutIfOpen(answer: Answer): Promise<void> {
  if ("writer" in answer) await answer.writer.cut();
}
