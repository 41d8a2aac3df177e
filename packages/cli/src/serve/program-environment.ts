/** What a program is told about its handoff: variables, and files for what does not fit into one. */

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Context } from "@handfast/client";
import type { Environment } from "../command.ts";
import { serveLimits as limits } from "./limits.ts";

/** Documented in the help of `serve`. */
export const programVariables: readonly (readonly [string, string])[] = [
  ["HANDFAST_HANDOFF_ID", "the handoff's id"],
  ["HANDFAST_ATTEMPT", "1 for the first"],
  ["HANDFAST_FENCE", "the lease's number"],
  ["HANDFAST_IDEMPOTENCY_KEY", "equal across attempts: give it to whatever must not happen twice"],
  ["HANDFAST_FROM", "who sent it"],
  ["HANDFAST_CAPABILITY", "what was asked for"],
  ["HANDFAST_CORRELATION", "the group it belongs to"],
  ["HANDFAST_DEADLINE_MS", "what was left of the deadline when the program began"],
  ["HANDFAST_CHECKPOINT", "the last checkpoint of an earlier attempt, as JSON; not set: none"],
  ["HANDFAST_CHECKPOINT_FILE", "in its place a file, where it is larger than 100 KB"],
  ["HANDFAST_FILES", "a folder with the files that came along, removed afterwards"],
  ["HANDFAST_CONTROL_FD", 'where to write lines such as {"checkpoint": …} or {"progress": 0.5, "note": "…"}'],
  ["HANDFAST_URL", "the relay, for handfast commands in the program"],
  ["HANDFAST_AGENT", "the agent that serves, in whose name they call"],
];

export interface ProgramEnvironment {
  readonly env: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

export async function programEnvironment(client: Client, ctx: Context, own: Environment): Promise<ProgramEnvironment> {
  const { handoff, previous } = ctx;
  const checkpoint = previous.checkpoint === null ? null : JSON.stringify(previous.checkpoint);
  const isLong = checkpoint !== null && Buffer.byteLength(checkpoint) > limits.variable_bytes;
  const folder = isLong || handoff.artifacts.length > 0 ? await mkdtemp(join(tmpdir(), "handfast-serve-")) : null;
  const remove = async () => {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
  try {
    const files = folder === null ? {} : await writeFiles(client, ctx, folder, isLong ? checkpoint : null);
    const env = {
      ...own,
      HANDFAST_HANDOFF_ID: handoff.id,
      HANDFAST_ATTEMPT: String(ctx.attempt),
      HANDFAST_FENCE: String(handoff.fence),
      HANDFAST_IDEMPOTENCY_KEY: ctx.idempotencyKey,
      HANDFAST_FROM: handoff.from,
      HANDFAST_CAPABILITY: handoff.capability ?? "",
      HANDFAST_CORRELATION: handoff.correlation_id,
      HANDFAST_DEADLINE_MS: String(Math.max(0, Math.round(ctx.deadline()))),
      HANDFAST_CONTROL_FD: "3",
      HANDFAST_URL: client.url,
      HANDFAST_AGENT: client.agent,
      ...(checkpoint === null || isLong ? {} : { HANDFAST_CHECKPOINT: checkpoint }),
      ...files,
    };
    return { env, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function writeFiles(
  client: Client,
  { handoff, signal }: Context,
  folder: string,
  checkpoint: string | null,
): Promise<Record<string, string>> {
  const checkpoint_file = join(folder, "checkpoint.json");
  if (checkpoint !== null) await writeFile(checkpoint_file, checkpoint);
  for (const [index, { sha256, name }] of handoff.artifacts.entries()) {
    const bytes = await client.call("get_artifact", { params: { sha256 } }, { signal });
    if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
      throw new Error(`The relay gave other bytes than those of the file ${sha256} that came along.`);
    }
    await writeFile(join(folder, fileName(name, index)), bytes, { flag: "wx" });
  }
  return {
    HANDFAST_FILES: folder,
    ...(checkpoint === null ? {} : { HANDFAST_CHECKPOINT_FILE: checkpoint_file }),
  };
}

/** A sender chooses the name: it must not lead out of the folder, nor over another file. */
function fileName(name: string | undefined, index: number): string {
  const plain = (name ?? "").replaceAll(/[^\p{L}\p{N}._ -]/gu, "_").slice(-100);
  return plain === "" || plain.startsWith(".") || plain === "checkpoint.json" ? `file-${index + 1}-${plain}` : plain;
}
