/** What workers say came of their work. Equal in every repetition: a repeat under the same fence says the same. */

import type { Evidence, Handoff, Usage } from "@handfast/core";

type Ending = "complete" | "fail" | "reject";

/** The bytes that go with an outcome under this fence. */
export function outcomePayload(fence: number): Uint8Array {
  return Uint8Array.of(7, fence % 256);
}

export function outcomeArtifacts(fence: number): readonly string[] {
  return fence % 3 === 0 ? [`artifact-${fence}`] : [];
}

/** Half of the attempts used something. */
function usageOf(id: string, fence: number): Usage | null {
  const last = Number.parseInt(id.slice(-2), 16) + fence;
  return last % 2 === 0 ? { cost: 1 + (last % 3), tokens: 100 } : null;
}

interface Author {
  readonly agent: string;
  readonly worker: string;
  /** One process of the worker: another one may come to another result. */
  readonly life: string;
}

/** `variant`: what a worker says that contradicts itself. */
export function outcomeOf({ accepted }: Handoff, fence: number, ending: Ending, author: Author, variant = "") {
  const { id, demands } = accepted;
  const { agent, worker, life } = author;
  const evidence: Evidence = demands === "signed" ? "signed" : "attested";
  const error = { reason: "did_not_work", message: "the model gave up" };
  const output = { media_type: "text/plain", size: 2, salt: "", sha256: `output-${id}-${fence}` };
  const result = {
    agent,
    fence,
    worker,
    content: `${ending}${variant} of ${id} under ${fence} by ${life}`,
    evidence,
    usage: usageOf(id, fence),
    artifacts: outcomeArtifacts(fence),
  };
  switch (ending) {
    case "complete":
      return { type: "complete", output, fault: null, ...result } as const;
    case "reject":
      return { type: "reject", error, ...result } as const;
    case "fail": {
      const retryable = (fence + id.charCodeAt(id.length - 1)) % 5 !== 0;
      const retry_after_ms = fence % 4 === 0 ? 2_000 : null;
      return { type: "fail", error, output: null, retryable, retry_after_ms, ...result } as const;
    }
    default:
      throw new Error(`unreachable ending ${JSON.stringify(ending satisfies never)}`);
  }
}

export function outcomeBody(fence: number) {
  return {
    body: { kind: "outcome", document: '{"typ":"outcome"}', proof: null, payload: outcomePayload(fence) },
    artifacts: outcomeArtifacts(fence),
  } as const;
}
