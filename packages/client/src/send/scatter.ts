/** Many handoffs under one correlation: all, any, a quorum, what there is at the deadline, or each as it comes. */

import { toMilliseconds } from "../duration.ts";
import { HandoffError } from "../errors.ts";
import { joinSignals } from "../link/any-signal.ts";
import type { Ended, Handle, Scatter, Settled } from "./api.ts";
import { ScatterError, usage, waitOver } from "./faults.ts";
import type { SentHandle } from "./handle.ts";
import { iterable } from "./iterable.ts";
import type { WaitOptions } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import { outputOf } from "./output.ts";
import type { Sender } from "./sender.ts";

interface ScatterSettings {
  readonly keep: boolean;
  readonly signal: AbortSignal | undefined;
}

export class SentScatter<Out> implements Scatter<Out> {
  readonly correlation: string;
  readonly #sender: Sender;
  readonly #handles: Promise<readonly SentHandle<Out>[]>;
  readonly #settings: ScatterSettings;

  constructor(
    sender: Sender,
    correlation: string,
    handles: Promise<readonly SentHandle<Out>[]>,
    settings: ScatterSettings,
  ) {
    this.correlation = correlation;
    this.#sender = sender;
    this.#handles = handles;
    this.#settings = settings;
    // Told to everybody who asks for anything; until somebody does, it is not an unhandled rejection.
    handles.catch(() => {});
  }

  handles(): Promise<readonly Handle<Out>[]> {
    return this.#handles;
  }

  async all(options: WaitOptions = {}): Promise<Out[]> {
    return this.#waiting("All outputs", options, async (signal, handles) => {
      const outputs = new Array<Out>(handles.length);
      for await (const each of asTheyEnd(handles, signal)) {
        if (each.status === "failed") {
          take([each], handles);
          this.#drop(handles, "Another task of the scatter failed.");
          throw each.error;
        }
        outputs[each.index] = each.output;
      }
      for (const handle of handles) handle.takeSeen();
      return outputs;
    });
  }

  async any(options: WaitOptions = {}): Promise<Out> {
    const [first] = await this.quorum(1, options);
    return first as Out;
  }

  async quorum(count: number, options: WaitOptions = {}): Promise<Out[]> {
    if (!Number.isInteger(count) || count < 1) {
      throw usage(`A quorum of ${count} is none.`, "Give a whole number from 1 to the number of tasks.");
    }
    return this.#waiting(`A quorum of ${count}`, options, async (signal, handles) => {
      const outputs: Out[] = [];
      const seen: Ended<Out>[] = [];
      const errors: HandoffError[] = [];
      const isImpossible = () => handles.length - errors.length < count;
      if (!isImpossible()) {
        for await (const each of asTheyEnd(handles, signal)) {
          seen.push(each);
          if (each.status === "completed") outputs.push(each.output);
          else errors.push(each.error);
          if (outputs.length === count || isImpossible()) break;
        }
      }
      if (outputs.length < count) {
        take(
          seen.filter(({ status }) => status === "failed"),
          handles,
        );
        this.#drop(handles, "Too many tasks of the scatter failed.");
        throw new ScatterError(count, handles.length, errors);
      }
      take(seen, handles);
      this.#drop(handles, "Enough tasks of the scatter were completed.");
      return outputs;
    });
  }

  async settled(options: WaitOptions = {}): Promise<Settled<Out>[]> {
    const what = "What became of the tasks";
    const over = new AbortController();
    const { timeout, signal } = options;
    const { surroundings } = this.#sender.base;
    const timeout_ms = timeout === undefined ? null : toMilliseconds(timeout, "The option timeout");
    const expire = () => over.abort(waitOver(what, timeout_ms ?? 0));
    const callOff = timeout_ms === null ? () => {} : surroundings.after(timeout_ms, expire, true);
    try {
      // Until the relay has the tasks there is nothing to tell of them.
      const known = joinSignals(over.signal, signal, this.#settings.signal, this.#sender.parent?.signal);
      await orAborted(this.#handles, known.signal).finally(known.release);
      return await this.#waiting(what, { ...(signal && { signal }) }, async (both, handles) => {
        const settled: Settled<Out>[] = handles.map((handle, index) => ({ status: "open", index, handle }));
        for await (const each of asTheyEnd(handles, both, over.signal)) settled[each.index] = each;
        take(settled, handles);
        return settled;
      });
    } finally {
      callOff();
    }
  }

  async cancel(reason?: string): Promise<void> {
    await Promise.all((await this.#handles).map((handle) => handle.cancel(reason)));
  }

  [Symbol.asyncIterator](): AsyncIterator<Ended<Out>, void, undefined> {
    const { base, parent } = this.#sender;
    const generate = (signal: AbortSignal) => this.#each(signal);
    return iterable(generate, this.#settings.signal, parent?.signal, base.closed)[Symbol.asyncIterator]();
  }

  async *#each(signal: AbortSignal): AsyncGenerator<Ended<Out>, void, undefined> {
    const handles = await orAborted(this.#handles, signal);
    for await (const each of asTheyEnd(handles, signal)) {
      try {
        yield each;
      } finally {
        take([each], handles);
      }
    }
  }

  /** Within the caller's signals and timeout, once the handles are known. */
  async #waiting<T>(
    what: string,
    { signal: own, timeout }: WaitOptions,
    wait: (signal: AbortSignal, handles: readonly SentHandle<Out>[]) => Promise<T>,
  ): Promise<T> {
    const { base, parent } = this.#sender;
    const { signal, abort, release } = joinSignals(own, this.#settings.signal, parent?.signal);
    const timeout_ms = timeout === undefined ? null : toMilliseconds(timeout, "The option timeout");
    const callOff =
      timeout_ms === null
        ? () => {}
        : base.surroundings.after(timeout_ms, () => abort(waitOver(what, timeout_ms)), true);
    try {
      return await wait(signal, await orAborted(this.#handles, signal));
    } finally {
      callOff();
      release();
    }
  }

  /** It is decided: what is still open is called off, unless it is to be kept. */
  #drop(handles: readonly SentHandle<Out>[], reason: string): void {
    if (!this.#settings.keep) for (const handle of handles) handle.drop(reason);
  }
}

function take<Out>(ended: readonly Settled<Out>[], handles: readonly SentHandle<Out>[]): void {
  for (const { status, index } of ended) if (status !== "open") handles[index]?.takeSeen();
}

/** Each when it ends, until all have, or until `enough` aborts: then those that have ended are told and no others. */
async function* asTheyEnd<Out>(
  handles: readonly SentHandle<Out>[],
  signal: AbortSignal,
  enough?: AbortSignal,
): AsyncGenerator<Ended<Out>, void, undefined> {
  const arrived: Ended<Out>[] = [];
  let broken: { readonly error: unknown } | null = null;
  let wake = () => {};
  const { signal: waiting, abort, release } = joinSignals(signal);
  const stop = () => wake();
  enough?.addEventListener("abort", stop);
  for (const [index, handle] of handles.entries()) {
    endOf(handle, index, waiting).then(
      (ended) => {
        arrived.push(ended);
        wake();
      },
      (error: unknown) => {
        broken ??= { error };
        wake();
      },
    );
  }
  try {
    for (let left = handles.length; left > 0; ) {
      const next = arrived.shift();
      if (next !== undefined) {
        left -= 1;
        yield next;
        continue;
      }
      if (broken !== null) throw (broken as { readonly error: unknown }).error;
      if (enough?.aborted === true) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    enough?.removeEventListener("abort", stop);
    abort(undefined);
    release();
  }
}

async function endOf<Out>(handle: SentHandle<Out>, index: number, signal: AbortSignal): Promise<Ended<Out>> {
  try {
    const view = await handle.outcome({ signal, take: false });
    if (view.state !== "completed") return { status: "failed", index, handle, error: HandoffError.ended(view) };
    return { status: "completed", index, handle, output: outputOf(view) as Out };
  } catch (error) {
    // About this one alone: it is unknown, or its outcome is not proven. Anything else is about the relay or the wait.
    const isVerdict = error instanceof HandoffError && verdicts.has(error.reason);
    if (!isVerdict) throw error;
    return { status: "failed", index, handle, error };
  }
}

const verdicts: ReadonlySet<string> = new Set(["unknown_handoff", "not_proven", "output_gone"]);
