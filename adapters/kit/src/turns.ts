/**
 * One thing at a time for each key: in this process, or across processes by a lock that is given. Whoever has the turn and
 * asks for it again goes on at once: what a woken run calls may want the turn of that very run.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Runs one thing at a time for each key. */
export type Lock = <T>(key: string, run: () => Promise<T>) => Promise<T>;

interface Turn {
  readonly key: string;
  /** What goes on unawaited after the turn has it no more. */
  is_over: boolean;
  readonly within: Turn | undefined;
}

const turns = new AsyncLocalStorage<Turn>();

export function inTurn<T>(key: string, run: () => Promise<T>, lock: Lock = inLine): Promise<T> {
  const within = turns.getStore();
  if (hasTurn(within, key)) return run();
  return lock(key, async () => {
    const turn: Turn = { key, is_over: false, within };
    try {
      return await turns.run(turn, run);
    } finally {
      turn.is_over = true;
    }
  });
}

function hasTurn(turn: Turn | undefined, key: string): boolean {
  return turn !== undefined && ((turn.key === key && !turn.is_over) || hasTurn(turn.within, key));
}

/** The last in each line, in this process. */
const lines = new Map<string, Promise<unknown>>();

const inLine: Lock = async (key, run) => {
  const before = lines.get(key) ?? Promise.resolve();
  const turn = before.then(run, run);
  lines.set(key, turn);
  try {
    return await turn;
  } finally {
    if (lines.get(key) === turn) lines.delete(key);
  }
};
