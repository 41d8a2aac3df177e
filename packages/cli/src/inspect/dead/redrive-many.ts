/** Redrives all that fit a filter: the dry run fixes the set and shows it, then exactly that set is redriven. */

import type { Client } from "@handfast/client";
import type { Operations } from "@handfast/protocol/wire";
import type { Context } from "../../command.ts";
import { confirm } from "../../confirm.ts";
import type { ExitName } from "../../exit-codes.ts";
import { ahead } from "../../moments.ts";
import { counted } from "../names.ts";
import { readFilter } from "./dead-filter.ts";

type Reply = Operations["redrive_many"]["reply"];
type Plan = Extract<Reply, { expires_at: number }>;
type Done = Exclude<Reply, Plan>;

export async function redriveMany(context: Context, client: Client): Promise<ExitName> {
  const { terminal, options, signal } = context;
  const body = { dry_run: true as const, filter: readFilter(options) };
  const plan = (await client.call("redrive_many", { body }, { signal })) as Plan;
  const isDryRun = options.flag("dry-run");
  if (isDryRun || plan.count === 0) {
    if (terminal.json) terminal.document(plan);
    else tellPlan(context, plan);
    return "ok";
  }
  if (!terminal.json && !options.flag("yes")) tellPlan(context, plan);
  await confirm(context, `Redrive ${counted(plan.count, "dead letter")}?`);
  const run = client.call("redrive_many", { body: { plan: plan.plan } }, { signal });
  const done = (await terminal.busy(`redriving ${plan.count}`, run)) as Done;
  if (terminal.json) terminal.document(done);
  else tellDone(context, done);
  return done.refused.length === 0 ? "ok" : "ended";
}

function tellPlan({ terminal }: Context, { count, ids, expires_at }: Plan): void {
  terminal.print(`${counted(count, "dead letter fits", "dead letters fit")}`);
  for (const id of ids) terminal.print(`  ${id}`);
  if (count > ids.length) terminal.print(`  and ${count - ids.length} more`);
  if (count > 0)
    terminal.note(
      `Nothing is redriven yet; this set is kept for you, its time is over ${ahead(expires_at, Date.now())}.`,
    );
}

function tellDone({ terminal }: Context, { redriven, already_redriven, refused }: Done): void {
  const before = already_redriven === 0 ? "" : `, ${already_redriven} had been redriven before`;
  terminal.print(`redriven ${redriven}${before}${refused.length === 0 ? "" : `, refused ${refused.length}`}`);
  for (const { id, code, reason } of refused.slice(0, 20)) terminal.note(`${id}  ${code} ${reason}`);
  terminal.next(refused.length === 0 ? "handfast watch" : "handfast dead list");
}
