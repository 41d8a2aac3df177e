/** A start that would wait without a word for a synchronous standby which is away. */

import { Pool } from "./connection.ts";
import { unconfirmed } from "./errors.ts";
import { inTime, watched } from "./in-time.ts";
import { answer_timeout_ms } from "./limits.ts";
import type { Host } from "./place.ts";
import { truth } from "./rows.ts";

/** Longer than a standby that is there takes. */
const unconfirmed_s = 10;

/**
 * A migration may take as long as it takes. But one that waits for a synchronous standby would wait without a word for as long as that is away,
 * and so would every later start, behind its lock.
 */
export function unlessUnconfirmed(host: Host, shown: string, work: Promise<void>): Promise<void> {
  return watched(work, answer_timeout_ms, async () => {
    if (await isUnconfirmed(host)) throw unconfirmed(shown);
  });
}

/** Whether a commit in this database, of a node's or not, has waited for a standby for so long. */
async function isUnconfirmed(host: Host): Promise<boolean> {
  const pool = new Pool(host);
  try {
    const [row] = await inTime(
      pool.askOnce(
        `SELECT count(*) > 0 AS is_unconfirmed FROM pg_stat_activity
         WHERE wait_event = 'SyncRep' AND state_change < now() - make_interval(secs => $1::float8) AND datname = current_database()`,
        unconfirmed_s,
      ),
    );
    return truth(row, "is_unconfirmed");
  } finally {
    await pool.close();
  }
}
