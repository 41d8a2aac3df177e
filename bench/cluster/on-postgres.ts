/** `npm run bench -- --store postgres`: our nodes and the peers on one PostgreSQL server, one after the other. */

import type { Settings } from "../command-line.ts";
import { compare } from "../compare.ts";
import { captionOf } from "../comparison.ts";
import { plainDisk } from "../disk/disk.ts";
import type { Say } from "../obtain/say.ts";
import { reasonOf, Unavailable } from "../obtain/unavailable.ts";
import { onlyThese, type RowPlan } from "../plan.ts";
import { type Conditions, observeConditions, what_a_handoff_is } from "../report/conditions.ts";
import { type Ratios, takeRatios } from "../report/ratios.ts";
import { ratioTable, table } from "../report/table.ts";
import type { Row } from "../row.ts";
import type { Lent } from "../run-row.ts";
import { type LentDatabase, type SharedPostgres, startSharedPostgres } from "../servers/shared-postgres.ts";
import { openWorkspace } from "../workspace.ts";
import { fillBacklog } from "./backlog.ts";
import { writePages } from "./pages.ts";
import { fullPlan, onPostgres, quickPlan } from "./plan.ts";

export interface OnPostgres extends Ratios {
  readonly conditions: Conditions;
  readonly goals: typeof onPostgres.goals;
  readonly server: string;
  /** Handoffs queued in the loaded store; 0: there was none. */
  readonly backlog: number;
  readonly rows: readonly Row[];
}

const full = { seconds: 4, rounds: 3, warm_up_seconds: 6, fill: 1_000_000 };
const quick = { seconds: 1, rounds: 1, warm_up_seconds: 2.5, fill: 20_000 };
/** With `--quick` no row is begun after the first of these, and one that still runs is ended at the second. */
const quick_until = { begin_ms: 70_000, end_ms: 85_000 };
const no_end = { begin_ms: Number.POSITIVE_INFINITY, end_ms: null };

const notes = (backlog: number) => [
  what_a_handoff_is,
  "one PostgreSQL server for the whole run, the same settings for all, fsync and synchronous_commit on; each system in turn, alone, with a new and empty database on it, and a checkpoint before",
  "sender and worker share one process, the nodes and the server have their own, all on this machine; workers take 256 at the same time in all",
  "what each does for one job: pg-boss send, fetch and complete, batches of 64 in two workers; graphile-worker addJob, fetch and complete, the answer in a table of the user's; ours submit with lease, ack, complete and take, each confirmed, an event for each, the answer pushed",
  "figures are medians over the rounds, ratios medians of the ratios within each round; of the two pg-boss rows the better counts in each round",
  `backlog: ${backlog.toLocaleString("en")} handoffs of another capability are queued in the same database, as a relay leaves them, vacuumed; their worker does not come`,
  "held transaction: another session has a snapshot in the same database from before the warm-up until after the measured time, so that nothing can be cleaned up; measured for four times as long as the others",
];

export async function runOnPostgres(settings: Settings, say: Say): Promise<OnPostgres> {
  const defaults = settings.quick ? quick : full;
  const { seconds, rounds } = {
    seconds: settings.seconds ?? defaults.seconds,
    rounds: settings.rounds ?? defaults.rounds,
  };
  const whole = settings.quick ? quickPlan : fullPlan;
  const plan = settings.only === null ? whole : onlyThese(whole, settings.only);
  const backlog = plan.some(({ store }) => store === "loaded") ? (settings.fill ?? defaults.fill) : 0;
  const workspace = openWorkspace(settings.directory);
  try {
    const server = await startSharedPostgres({ directory: workspace.folder("postgres"), disk: plainDisk, say });
    try {
      const loaded = await loadedDatabase(server, backlog, say);
      const observed = observeConditions(workspace, rounds, seconds, notes(backlog));
      const rows = await compare(plan, {
        rounds,
        seconds,
        warm_up_seconds: defaults.warm_up_seconds,
        steady_seconds: 0,
        workspace,
        loaded: () => Promise.reject(new Error("its database is lent")),
        lend: (one) => lend(one, server, loaded),
        until: settings.quick ? quick_until : no_end,
        say,
      });
      const ratios = takeRatios(rows, onPostgres);
      const found = { conditions: observed(), ...ratios, goals: onPostgres.goals, server: server.about, backlog, rows };
      if (settings.page !== null) writePages(settings.page, found);
      return found;
    } finally {
      await server.stop();
    }
  } finally {
    workspace.close();
  }
}

/** The database with the backlog, or why there is none. */
async function loadedDatabase(server: SharedPostgres, backlog: number, say: Say): Promise<LentDatabase | Unavailable> {
  if (backlog === 0) return new Unavailable("no backlog was asked for");
  try {
    const database = await server.create();
    await fillBacklog(database, backlog, say);
    return database;
  } catch (error) {
    say(`the backlog: ${reasonOf(error)}`);
    return new Unavailable(`the backlog could not be filled: ${reasonOf(error)}`);
  }
}

async function lend(plan: RowPlan, server: SharedPostgres, loaded: LentDatabase | Unavailable): Promise<Lent> {
  if (plan.store === "loaded") {
    if (loaded instanceof Unavailable) throw loaded;
    return { database: loaded, close: async () => {} };
  }
  const database = await server.create();
  const held = plan.store === "held" ? await database.hold() : null;
  return {
    database,
    close: async () => {
      await held?.end();
      await database.drop();
    },
  };
}

export function onPostgresText({ conditions, server, rows, ...ratios }: OnPostgres): string {
  const { load_average, cpu, notes: told, on_disk } = conditions;
  const parts = [
    on_disk ? "" : "NOT ON A DISK: syncs cost nothing in memory, and these figures say nothing. Use --directory.",
    `${captionOf(conditions)}; ${cpu}; load average ${load_average.before} before, ${load_average.after} after\n${server}`,
    table(rows),
    ratioTable(ratios, onPostgres),
    told.map((note) => `- ${note}`).join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
