/** Giving work: one handoff, a notice, or the tasks of a scatter. */

import { isTextId, wireLimits } from "@handfast/protocol/client";
import type { Receipt } from "@handfast/protocol/wire";
import { type Draft, submit, submitBatch } from "../acts.ts";
import { HandoffError } from "../errors.ts";
import { anySignal } from "../link/any-signal.ts";
import { shown } from "../shown.ts";
import { putArtifacts } from "./artifacts.ts";
import { draftOf, makeIds } from "./draft.ts";
import { noTimeLeft, usage } from "./faults.ts";
import { SentHandle } from "./handle.ts";
import { checkOptionNames, type ScatterOptions, type SendOptions, type Target, type Task } from "./options.ts";
import type { Sender } from "./sender.ts";

export async function submitOne(
  sender: Sender,
  kind: "handoff" | "notice",
  target: Target,
  input: unknown,
  options: SendOptions,
): Promise<Receipt> {
  checkOptionNames(options);
  return whileWanted(sender, options, async (signal) => {
    const { base, parent } = sender;
    const artifacts =
      options.artifacts === undefined ? [] : await putArtifacts(base, options, { signal, ...patienceOf(sender) });
    const [id = ""] = makeIds(base, 1);
    const draft = draftOf(id, { kind, target, input, options, artifacts }, parent);
    return submit(base, draft, { signal, minimal: kind === "handoff", ...patienceOf(sender) });
  });
}

/** All in one batch, up to the number that a batch may have. Of more, what was accepted when one is refused is canceled. */
export async function submitTasks<Out>(
  sender: Sender,
  tasks: readonly Task[],
  correlation: string,
  options: ScatterOptions,
): Promise<readonly SentHandle<Out>[]> {
  return whileWanted(sender, options, async (signal) => {
    const ids = makeIds(sender.base, tasks.length);
    const common = { ...options, correlation, ...(signal === undefined ? {} : { signal }) };
    const drafts = await Promise.all(
      tasks.map((task, index) => draftOfTask(sender, ids[index] ?? "", task, index, common)),
    );
    const handles: SentHandle<Out>[] = [];
    const most = wireLimits.batch_handoffs;
    for (let first = 0; first < drafts.length; first += most) {
      try {
        const batch = drafts.slice(first, first + most);
        const receipts = await submitBatch(sender.base, batch, { signal, minimal: true, ...patienceOf(sender) });
        handles.push(...receipts.map((receipt, index) => handleOf<Out>(sender, receipt, batch[index])));
      } catch (error) {
        if (options.keep !== true)
          for (const handle of handles) handle.drop("Another task of the scatter was refused.");
        throw named(error, first);
      }
    }
    return handles;
  });
}

async function draftOfTask(
  sender: Sender,
  id: string,
  task: Task,
  index: number,
  common: ScatterOptions,
): Promise<Draft> {
  if (typeof task !== "object" || task === null) {
    throw usage(`Task ${index} of the scatter is ${shown(task)}.`, "Give { capability, input }.");
  }
  const { to, capability, input, ...own } = task;
  checkOptionNames(own);
  const { keep: _keep, idempotencyKey: key, ...shared } = common;
  const options: SendOptions = {
    ...shared,
    ...(key === undefined ? {} : { idempotencyKey: `${key}/${index}` }),
    ...own,
  };
  const target = { ...(to === undefined ? {} : { to }), ...(capability === undefined ? {} : { capability }) };
  const artifacts = await putArtifacts(sender.base, options, { signal: options.signal, ...patienceOf(sender) });
  return draftOf(id, { kind: "handoff", target, input, options, artifacts }, sender.parent);
}

function handleOf<Out>(sender: Sender, receipt: Receipt, draft: Draft | undefined): SentHandle<Out> {
  return new SentHandle<Out>(sender, receipt.id, { receipt, demands: draft?.evidence });
}

/** A handler has as long as its handoff: a relay that is away for a minute is no reason for it to fail. */
function patienceOf({ patience_ms }: Sender): { readonly patience_ms?: number } {
  const left_ms = patience_ms?.() ?? 0;
  return left_ms > 0 ? { patience_ms: left_ms } : {};
}

/** The correlation, known before the relay answers, so that it can be kept before anything else happens. */
export function correlationOf({ base, parent }: Sender, options: ScatterOptions, makeOne: () => string): string {
  checkOptionNames(options);
  // Repeated with its key a scatter is the same one, so its correlation is the same too.
  const correlation = options.correlation ?? parent?.correlation_id ?? options.idempotencyKey ?? makeOne();
  if (isTextId(correlation)) return correlation;
  throw usage(
    `${shown(correlation)} is no correlation for ${base.agent}.`,
    "Give 1 to 256 characters without control characters.",
  );
}

/** Until the caller or the parent lets go. */
async function whileWanted<T>(
  { parent }: Sender,
  options: { readonly signal?: AbortSignal },
  act: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const { signal, release } = anySignal(options.signal, parent?.signal);
  try {
    signal?.throwIfAborted();
    if (parent !== null && parent.deadline_ms() <= 0) throw noTimeLeft(parent.id);
    return await act(signal);
  } catch (error) {
    if (error instanceof HandoffError && error.reason === "lease_lost") parent?.lost(error);
    throw error;
  } finally {
    release();
  }
}

/** A refusal of the first handoff of a batch alone names no place. */
const isAboutTask: ReadonlySet<number> = new Set([402, 404, 406, 409, 412, 422, 428, 508]);

/** Says which task it was: a batch is refused by the first in it that does not fit. */
function named(error: unknown, first: number): unknown {
  if (!(error instanceof HandoffError) || error.problem === null) return error;
  const { refusals, index } = error.problem;
  const [refusal] = Array.isArray(refusals) ? (refusals as { index: number; detail: string }[]) : [];
  const place = refusal?.index ?? (typeof index === "number" ? index : isAboutTask.has(error.code) ? 0 : undefined);
  if (place === undefined) return error;
  return new HandoffError({
    code: error.code,
    reason: error.reason,
    message: `Task ${first + place} of the scatter was refused: ${refusal?.detail ?? error.message}`,
    remedy: error.remedy,
    retryable: error.retryable,
    problem: error.problem,
    cause: error,
  });
}
