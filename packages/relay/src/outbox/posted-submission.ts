/** From what a transaction posted to what the engine is asked to accept; and where that cannot be, to a dead letter that says why. */

import type { Refusal } from "@handfast/core";
import type { Submission } from "@handfast/engine";
import { isName, parseStrictBytes } from "@handfast/protocol";
import type { Posted } from "@handfast/store-postgres";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import type { Relay } from "../operations/relay.ts";
import { preparePosted } from "../operations/submit.ts";
import { Problem } from "../problem.ts";

/** Under it the document of a dead letter keeps what could not be read as fields of a submit. */
const options_uri = "urn:handfast:outbox:options";

/** Throws a Problem where it cannot be taken. */
export async function submissionFor(relay: Relay, posted: Posted): Promise<Submission> {
  if (relay.directory.record(posted.agent) === undefined) throw unknownSender(posted.agent);
  const { id, capability } = posted;
  const options = parsed(posted.options, "options");
  const input = parsed(posted.input, "input");
  const body = { ...asObject(options), ...(capability === null ? {} : { capability }), id, input };
  return { ...(await preparePosted(relay, callerOf(posted), body)), posted: true };
}

/** The same work as a dead letter for this reason: with its target and its input, where those can be read. */
export async function deadSubmission(relay: Relay, posted: Posted, refusal: Refusal): Promise<Submission> {
  const { id, options } = posted;
  const ext = { [options_uri]: options };
  const target = { kind: "malformed", refusal } as const;
  const caller = callerOf(posted);
  const ways = [{ input: readable(posted.input) }, { text: posted.input }];
  let failed: unknown;
  for (const given of ways) {
    try {
      const dead = await preparePosted(relay, caller, { id, ...targetOf(posted), ...given, ext });
      return { ...dead, target, posted: true };
    } catch (error) {
      failed = error;
    }
  }
  throw failed;
}

function targetOf({ capability, options }: Posted): { readonly capability: string } | { readonly to: string } {
  if (capability !== null) return { capability };
  const { to } = asObject(readable(options));
  return isName(to) ? { to } : { capability: "unknown" };
}

function callerOf({ namespace, agent }: Posted): Caller {
  return { namespace, name: agent, role: "agent", key: null };
}

/** As strictly as the body of a call. */
function parsed(json: string, name: string): unknown {
  const read = parseStrictBytes(Buffer.from(json), { max_depth: limits.json_depth, max_keys: limits.json_keys });
  if (read.ok) return read.value;
  const { reason, path } = read.fault;
  const message = `The ${name} of handfast.submit cannot be taken: ${reason.replaceAll("_", " ")} at ${JSON.stringify(path)}.`;
  throw new Problem(400, reason, message, { fields: [`/${name}${path}`] });
}

function readable(json: string): unknown {
  const read = parseStrictBytes(Buffer.from(json), { max_depth: limits.json_depth, max_keys: limits.json_keys });
  return read.ok ? read.value : undefined;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function unknownSender(agent: string): Problem {
  const next = `Register it (handfast token make ${agent}), then redrive this.`;
  return new Problem(404, "unknown_agent", `There is no agent ${agent}, for which this was posted. ${next}`);
}
