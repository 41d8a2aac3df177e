/** For tests: engines of several nodes on one database, and the shortest way to ask them things. */

import { type Handoff, liveLease, queueOf } from "@handfast/core";
import { type DraftPatch, draft, payload } from "@handfast/core/testing";
import {
  type Answer,
  type Body,
  type Claim,
  Engine,
  type EngineOptions,
  type PublicCommand,
  realSurroundings,
  type Store,
} from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import { openPostgresStore } from "../mod.ts";

export const namespace = "default";

const body: Body = { kind: "handoff", number: 0, document: "{}", proof: null, payload: new Uint8Array([123, 125]) };

type NodeOptions = Pick<EngineOptions, "onEvents" | "reread" | "limits" | "coreLimits">;

export class Node {
  readonly engine: Engine;
  readonly store: Store;
  readonly bugs: unknown[] = [];
  readonly recoveries: boolean[] = [];
  readonly #surroundings = realSurroundings();

  private constructor(store: Store, options: NodeOptions) {
    this.store = store;
    this.engine = new Engine({
      store,
      surroundings: this.#surroundings,
      others: () => 1,
      onBug: (error) => this.bugs.push(error),
      onRecovery: (_error, recovered) => this.recoveries.push(recovered),
      ...options,
    });
  }

  static async start(url: string, options: NodeOptions = {}): Promise<Node> {
    const node = await Node.open(url, options);
    await node.engine.start();
    return node;
  }

  /** Its engine is not started yet. */
  static async open(url: string, options: NodeOptions = {}): Promise<Node> {
    return new Node(await openPostgresStore(url, { may_lose: true, shared: true }), options);
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    await this.store.close();
  }

  newId(): string {
    return makeId(this.engine.now(), this.#surroundings.randomBytes(10));
  }

  async submit(patch: DraftPatch = {}): Promise<Handoff> {
    const id = this.newId();
    const submission = {
      draft: draft({ id, idempotency_key: id, ...patch }),
      queue_if_absent: true,
      target: fits,
      body,
    };
    const answer = await this.engine.submit([submission]);
    const handoff = answer.ok ? answer.submitted[0]?.handoff : null;
    if (handoff == null) throw new Error(`not accepted: ${JSON.stringify(answer)}`);
    return handoff;
  }

  claim(worker: string, patch: Partial<Claim> = {}): Promise<readonly Handoff[]> {
    return this.engine.claim({
      namespace,
      agent: "bob",
      worker,
      queues: () => new Set([queueOf({ to: null, capability: "summarize" })]),
      slots: 1,
      request_id: this.newId(),
      wait_ms: 0,
      offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
      ...patch,
    });
  }

  perform(handoff: Handoff, command: PublicCommand): Promise<Answer> {
    return this.engine.perform(namespace, handoff.accepted.id, command);
  }

  ack(handoff: Handoff): Promise<Answer> {
    return this.perform(handoff, { type: "ack", evidence: "signed", ...holderOf(handoff) });
  }

  complete(handoff: Handoff): Promise<Answer> {
    const output = payload("done");
    return this.perform(handoff, { type: "complete", ...outcome, ...holderOf(handoff), output });
  }
}

/** What the holder says when it could not do it. */
export function failing(handoff: Handoff, retryable: boolean): PublicCommand {
  const error = { reason: "trouble", message: "it went wrong" };
  const said = { ...outcome, ...holderOf(handoff), error, output: null, retryable, retry_after_ms: null };
  return { type: "fail", ...said };
}

const fits = { kind: "fits", except: [] } as const;
const outcome = { content: "done", evidence: "signed", usage: null, fault: null, artifacts: [] } as const;

export function holderOf(handoff: Handoff) {
  const lease = liveLease(handoff);
  if (lease === null) throw new Error(`nobody holds ${handoff.accepted.id}`);
  const { agent, worker, fence } = lease;
  return { agent, worker, fence };
}
