/** The sending side of a client, put together. */

import { isId, isTextId, makeId } from "@handfast/protocol/client";
import type { HandoffView } from "@handfast/protocol/wire";
import { answer } from "../acts.ts";
import type { Base } from "../base.ts";
import { shown } from "../shown.ts";
import type { GatherOptions, Handle, OutcomesOptions, Sending, SendingFrom } from "./api.ts";
import { Errands } from "./errands.ts";
import { usage } from "./faults.ts";
import { findHandles } from "./gather.ts";
import { SentHandle } from "./handle.ts";
import { iterable } from "./iterable.ts";
import { checkJson } from "./json-input.ts";
import { openQuestions, untaken } from "./newcomers.ts";
import type { ScatterOptions, Task } from "./options.ts";
import { SentScatter } from "./scatter.ts";
import type { Sender } from "./sender.ts";
import { correlationOf, submitOne, submitTasks } from "./submit.ts";
import { Waits } from "./waits.ts";

/** Once per client. */
export function sending(base: Base): Sending {
  const sender: Sender = { base, waits: new Waits(base), errands: new Errands(base), parent: null, patience_ms: null };
  return {
    ...sendingOf(sender),
    handle: <Out>(id: string) => new SentHandle<Out>(sender, checkedId(id)),
    gather: <Out>(correlation: string, options: GatherOptions = {}) => gather<Out>(sender, correlation, options),
    outcomes: <Out>(options: OutcomesOptions = {}) =>
      iterable((signal) => outcomes<Out>(sender, options, signal), options.signal, base.closed),
    questions: ({ follow = true, signal } = {}) =>
      iterable((both) => openQuestions(base, follow, both), signal, base.closed),
    answer: async (question, value, { signal } = {}) => {
      checkJson(value, "The answer");
      return answer(base, checkedQuestion(question), value, { signal });
    },
    from: (parent) => sendingOf({ ...sender, parent, patience_ms: () => parent.deadline_ms() }),
    patient: (patience_ms) => sendingOf({ ...sender, patience_ms }),
    settled: () => sender.errands.settled(),
  };
}

function sendingOf(sender: Sender): SendingFrom {
  return {
    send: async (target, input, options = {}) => {
      const receipt = await submitOne(sender, "handoff", target, input, options);
      return new SentHandle(sender, receipt.id, { receipt, demands: options.evidence });
    },
    notify: (target, input, options = {}) => submitOne(sender, "notice", target, input, options),
    scatter: (tasks, options = {}) => scatter(sender, tasks, options),
  };
}

function scatter<Out>(sender: Sender, tasks: readonly Task[], options: ScatterOptions): SentScatter<Out> {
  const { surroundings } = sender.base;
  if (!Array.isArray(tasks)) {
    throw usage(`The tasks of the scatter are ${shown(tasks)}.`, "Give an array of tasks: [{ capability, input }].");
  }
  const correlation = correlationOf(sender, options, () => makeId(surroundings.now(), surroundings.randomBytes(10)));
  const handles = submitTasks<Out>(sender, tasks, correlation, options);
  return new SentScatter(sender, correlation, handles, { keep: options.keep ?? false, signal: options.signal });
}

function gather<Out>(sender: Sender, correlation: string, { keep = false, signal }: GatherOptions): SentScatter<Out> {
  if (!isTextId(correlation)) {
    const remedy = "Give the correlation of a scatter, as it says it.";
    throw usage(`${shown(correlation)} is no correlation.`, remedy);
  }
  return new SentScatter(sender, correlation, findHandles<Out>(sender, correlation, signal), { keep, signal });
}

type WithView<Out> = Handle<Out> & { readonly view: HandoffView };

async function* outcomes<Out>(
  sender: Sender,
  { follow = true, take = false }: OutcomesOptions,
  signal: AbortSignal,
): AsyncGenerator<WithView<Out>, void, undefined> {
  for await (const ended of untaken(sender.base, follow, signal)) {
    const handle = new SentHandle<Out>(sender, ended.id, { ended });
    yield handle as WithView<Out>;
    // Not reached when the loop was left: what it was dealing with may not be done.
    if (take) handle.taken(ended);
  }
}

function checkedQuestion<Q extends { readonly id: string }>(question: string | Q): { readonly id: string } | Q {
  if (typeof question === "string") return { id: question };
  if (typeof question === "object" && question !== null && typeof question.id === "string") return question;
  throw usage(`${shown(question)} is no question.`, "Give a question as questions() tells it, or its id.");
}

function checkedId(id: string): string {
  if (isId(id)) return id;
  throw usage(`${shown(id)} is no id of a handoff.`, "Ids are UUIDv7 in lowercase, as a handle's id says it.");
}
