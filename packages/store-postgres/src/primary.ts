/**
 * Which of the hosts in the URL is the primary. All are asked at once, and the first of them in the URL's order is taken, so that nodes
 * agree also where a lost primary has come back as one. The client's own search (`target_session_attrs`) connects again and
 * again without a pause while there is none, with each of a node's connections: some thousand connections a second, at a standby
 * that is about to be promoted.
 */

import { setTimeout as pause } from "node:timers/promises";
import { WritingConnection } from "./connection.ts";
import { codeOf, explain, isSqlState, noPrimary, PostgresStoreError } from "./errors.ts";
import { inTime } from "./in-time.ts";
import { connect_timeout_s, recover_pause_ms } from "./limits.ts";
import type { Host, Place } from "./place.ts";
import { truth } from "./rows.ts";

export interface ToPrimary {
  readonly writer: WritingConnection;
  readonly host: Host;
}

/**
 * A host that is alone is not asked what it is: that is for whoever looks at the server as a whole. Whoever waits for a first connection is
 * told what time does not mend (a password, rights); without patience it was connected before, and a host that refuses is passed over
 * for as long as another may be the primary again.
 */
export async function connectToPrimary(place: Place, patience_ms: number): Promise<ToPrimary> {
  const [host, ...others] = place.hosts;
  if (host !== undefined && others.length === 0) return { writer: await WritingConnection.open(host), host };
  const until = performance.now() + patience_ms;
  for (;;) {
    const found = await lookAround(place, patience_ms > 0);
    if (!(found instanceof PostgresStoreError)) return found;
    if (!found.is_away || performance.now() >= until) throw found;
    await pause(recover_pause_ms);
  }
}

type Answer = ToPrimary | { readonly said: string; readonly error: unknown };

async function lookAround(place: Place, is_first: boolean): Promise<ToPrimary | PostgresStoreError> {
  const asked = place.hosts.map((host) => ask(host));
  const said: string[] = [];
  const refused: unknown[] = [];
  for (const [nth, asking] of asked.entries()) {
    const answer = await asking;
    if ("writer" in answer) {
      for (const later of asked.slice(nth + 1)) void later.then(cutIfOpen);
      return answer;
    }
    said.push(answer.said);
    const error = explain(answer.error, place.shown);
    if (!(error instanceof PostgresStoreError && error.is_away)) refused.push(error);
  }
  if (refused.length > 0 && (is_first || refused.length === asked.length)) throw refused[0];
  return noPrimary(place.shown, said);
}

/** Never fails: the others are not waited for once one is the primary. */
async function ask(host: Host): Promise<Answer> {
  try {
    const writer = await WritingConnection.open(host);
    try {
      const [row] = await inTime(writer.ask("SELECT pg_is_in_recovery() AS is_standby"), connect_timeout_s * 1_000);
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
    const code = codeOf(error);
    const said = isSqlState(code) ? `says: ${why}` : `does not answer (${code || why})`;
    return { said: `${host.name} ${said}`, error };
  }
}

async function cutIfOpen(answer: Answer): Promise<void> {
  if ("writer" in answer) await answer.writer.cut();
}
