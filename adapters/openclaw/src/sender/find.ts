/** handfast_find: who can do what, with the schemas of input and output. */

import type { AgentView, Client } from "@handfast/client";

interface Found {
  readonly capability: string;
  readonly agent: string;
  readonly description?: string;
  readonly input_schema?: unknown;
  readonly output_schema?: unknown;
  readonly timeout_seconds?: number;
  /** A worker waits for work at this moment. */
  readonly ready: boolean;
}

/** More would fill the model's view and help nobody. */
const most_found = 40;
const page = 200;

export async function find(client: Client, words: string | undefined): Promise<{ readonly found: readonly Found[] }> {
  const found: Found[] = [];
  let after: string | null = null;
  do {
    const query = { limit: page, ...(after === null ? {} : { after }) };
    const reply: { readonly agents: readonly AgentView[]; readonly after: string | null } = await client.call(
      "agents",
      { query },
    );
    for (const agent of reply.agents) found.push(...offers(agent));
    ({ after } = reply);
  } while (after !== null);
  return { found: best(found, words) };
}

function offers({ name, capabilities, workers }: AgentView): readonly Found[] {
  const ready = workers.some(({ asking }) => asking);
  return capabilities.map(({ name: capability, description, input_schema, output_schema, timeout_seconds }) => ({
    capability,
    agent: name,
    ready,
    ...(description === undefined ? {} : { description }),
    ...(input_schema === undefined ? {} : { input_schema }),
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(timeout_seconds === undefined ? {} : { timeout_seconds }),
  }));
}

/** Those that speak of most of the words first, and those that are ready before others. */
function best(found: readonly Found[], words: string | undefined): readonly Found[] {
  const wanted = (words ?? "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const rank = ({ capability, agent, description = "" }: Found) => {
    const text = `${capability} ${agent} ${description}`.toLowerCase();
    return wanted.filter((word) => text.includes(word)).length;
  };
  return found
    .filter((each) => wanted.length === 0 || rank(each) > 0)
    .toSorted((a, b) => rank(b) - rank(a) || Number(b.ready) - Number(a.ready))
    .slice(0, most_found);
}
