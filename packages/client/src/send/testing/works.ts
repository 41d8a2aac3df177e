/** The worker's side, driven step by step over plain HTTP: no part of this client works on the work. */

import type { TestAgent } from "../../../../relay/src/testing/test-relay.ts";
import type { HandoffError } from "../../errors.ts";

export interface Work {
  readonly id: string;
  readonly fence: number;
  readonly input: unknown;
}

/** Claims the one that comes next, and acknowledges it. */
export async function claimed(worker: TestAgent): Promise<Work> {
  const { id, fence, input } = await worker.claim();
  await worker.act(id, "ack", { fence });
  return { id, fence, input };
}

export async function completes(worker: TestAgent, output: (input: unknown) => unknown): Promise<string> {
  const { id, fence, input } = await claimed(worker);
  await worker.act(id, "complete", { fence, output: output(input) });
  return id;
}

export async function fails(worker: TestAgent, message = "No."): Promise<string> {
  const { id, fence } = await claimed(worker);
  await worker.act(id, "fail", { fence, error: { reason: "no", message } });
  return id;
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<HandoffError> {
  try {
    await promise;
  } catch (error) {
    return error as HandoffError;
  }
  throw new Error("it did not reject");
}
