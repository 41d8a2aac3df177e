/**
 * Runs that sleep while their tool calls are with other agents. A run is its state, which the user keeps under an id; an
 * outcome finds it by the labels of its handoff, the call is approved, the tool has its result at hand, and the agent goes
 * on. Whoever is killed on the way finds by the kept state what was done.
 */

import {
  inScope,
  inTurn,
  joined,
  type Lock,
  type Outcome,
  refusalAsOutcome,
  sendOptionsOf,
  shortKey,
  targetOf,
  type WakeCall,
  type WakeOptions,
  type Waker,
  wakeByOutcomes,
} from "@handfast/adapter-kit";
import { type Client, HandfastError } from "@handfast/client";
import * as agents from "@openai/agents";
import { type AnyAgent, type AnyState, keysOf } from "./state.ts";
import { factsOf } from "./tool.ts";

const labels = { name: "openai-agents.name", run: "openai-agents.run", call: "openai-agents.call" } as const;

type AnyResult = agents.RunResult<unknown, AnyAgent>;

export interface Runs {
  /** Tells these from other runs of the same Handfast agent. Default: "runs". */
  readonly name?: string;
  /** The agent that began the runs. */
  readonly agent: AnyAgent;
  /** The state that was kept last; null: there is no such run. */
  readonly load: (id: string) => Promise<string | null>;
  /** Keeps the state, and the final output where there is one, both or none. Resolves once they are safe. */
  readonly save: (id: string, state: string, output?: unknown) => Promise<void>;
  /** A lock that holds across processes, where several of them have to do with these. Default: one of this process. */
  readonly lock?: Lock;
  /** What `run()` is given besides. */
  readonly options?: agents.NonStreamRunOptions<unknown>;
}

/**
 * Keeps the result of a run, and hands off what it was interrupted for by pausing tools. Without a result, that of the run
 * that was kept: for one whose process may have ended in between. Repeated, it sends nothing twice. Resolves with the ids
 * of the handoffs: none, and there is nothing to wait for.
 */
export function handOffPending(hf: Client, runs: Runs, id: string, result?: Paused): Promise<readonly string[]> {
  // An outcome that comes while others are sent must not be lost below them.
  return inTurn(turnOf(runs, id), () => keepAndSend(hf, runs, id, result), runs.lock);
}

type Paused = Pick<AnyResult, "state" | "interruptions" | "finalOutput">;

async function keepAndSend(hf: Client, runs: Runs, id: string, result?: Paused): Promise<readonly string[]> {
  if (result !== undefined) {
    const is_over = result.interruptions.length === 0;
    await runs.save(id, result.state.toString(), ...(is_over ? [result.finalOutput] : []));
  }
  const state = (result?.state as AnyState | undefined) ?? (await stateOf(runs, id));
  const { sent, refused } = await sendOpen(hf, runs, id, state);
  return refused.size === 0 ? sent : [...sent, ...(await goOn(hf, runs, id, state, refused))];
}

/** Wakes each run exactly once for each outcome. `onWoken` is told `resumed` or `not_waiting`. */
export function resumeRuns(hf: Client, runs: Runs, options: Omit<WakeOptions, "lock"> = {}): Waker {
  const { name = "runs", lock } = runs;
  const sleepers = {
    keyOf: ({ labels: marks }: WakeCall["view"]) => {
      const id = marks[labels.run];
      return marks[labels.name] === name && id !== undefined ? turnOf(runs, id) : null;
    },
    wake: (call: WakeCall) => wake(hf, runs, call),
  };
  return wakeByOutcomes(hf, sleepers, lock === undefined ? options : { ...options, lock });
}

function turnOf({ name = "runs" }: Runs, id: string): string {
  return joined("openai-agents", name, id);
}

async function wake(hf: Client, runs: Runs, { view, outcome }: WakeCall): Promise<string> {
  const id = view.labels[labels.run] ?? "";
  const state = await stateOf(runs, id);
  const open = callsOf(state).find(({ call }) => call === view.labels[labels.call]);
  if (open !== undefined) await goOn(hf, runs, id, state, new Map([[open.callId, outcome]]));
  // It went on before, and may have been cut off before it had sent what it called then.
  else await handOffPending(hf, runs, id);
  return open === undefined ? "not_waiting" : "resumed";
}

/** Runs with results at hand, keeps what came of it, and hands off what it calls then. */
async function goOn(
  hf: Client,
  runs: Runs,
  id: string,
  state: AnyState,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<readonly string[]> {
  for (const { item, callId } of callsOf(state)) {
    if (outcomes.has(callId)) state.approve(item);
  }
  const run = joined(runs.name ?? "runs", id);
  const scope = { run, keys: keysOf(run, state), outcomes };
  const result = await inScope(scope, () => agents.run(runs.agent, state, runs.options ?? {}));
  return handOffPending(hf, runs, id, result as AnyResult);
}

async function sendOpen(
  hf: Client,
  { name = "runs", agent }: Runs,
  id: string,
  state: AnyState,
): Promise<{ readonly sent: readonly string[]; readonly refused: ReadonlyMap<string, Outcome> }> {
  const sent: string[] = [];
  const refused = new Map<string, Outcome>();
  for (const { item, callId, name: called, arguments: text, call } of callsOf(state)) {
    const tool = (item.agent ?? agent).tools.find((each) => each.name === called);
    const facts = tool === undefined ? null : factsOf(tool);
    // A person is to approve it: that is not for us.
    if (facts === null) continue;
    const options = sendOptionsOf(facts.options);
    const marks = { [labels.name]: name, [labels.run]: id, [labels.call]: call };
    try {
      const handle = await hf.send(targetOf(facts.options), facts.shape.inputOf(JSON.parse(text)), {
        ...options,
        idempotencyKey: shortKey(joined(name, id, call)),
        labels: { ...options.labels, ...marks },
      });
      sent.push(handle.id);
    } catch (error) {
      refused.set(callId, refusalAsOutcome(error));
    }
  }
  return { sent, refused };
}

interface OpenCall {
  readonly item: agents.RunToolApprovalItem;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** Its id, as long as a label may be. The SDK sees to it that no model uses one twice. */
  readonly call: string;
}

/** What a run was interrupted for. */
function callsOf(state: AnyState): readonly OpenCall[] {
  return state.getInterruptions().flatMap((item) => {
    const { rawItem } = item;
    if (rawItem.type !== "function_call") return [];
    const { callId, name, arguments: text } = rawItem;
    return [{ item, callId, name, arguments: text, call: shortKey(callId) }];
  });
}

async function stateOf({ agent, load }: Runs, id: string): Promise<AnyState> {
  const kept = await load(id);
  if (kept !== null) return (await agents.RunState.fromString(agent, kept)) as AnyState;
  throw new HandfastError(`There is no run ${id}.`, {
    reason: "unknown_run",
    remedy: "Let handOffPending() keep it by save(), and let load() find it.",
    retryable: false,
    anchor: "usage",
  });
}
