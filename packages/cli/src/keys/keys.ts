/** `handfast keys`: the keys of this machine's agents. */

import type { Command, Context } from "../command.ts";
import { table, titled } from "../table.ts";
import { keyHome, keyPlace, listKeys, makeKey, openKey, requireKey } from "./key-files.ts";
import { rotateKey } from "./rotate.ts";

const agentArgument = { name: "agent", help: "Whose. Default: --agent, HANDFAST_AGENT.", optional: true };
const placeOptions = [
  { flags: "--agent <name>", help: "The same as the argument.", env: "HANDFAST_AGENT", key: "client.agent" },
  { flags: "--key <file>", help: "Another file than the one in ~/.handfast/keys.", env: "HANDFAST_KEY" },
];

export const keysCommand: Command = {
  name: "keys",
  summary: "Makes, shows and rotates the keys of agents.",
  description:
    "An agent is a key with a name. The files are in ~/.handfast/keys (HANDFAST_HOME), for their owner only.",
  examples: [
    { line: "keys make research-1", help: "A key before its first use, to have it admitted" },
    { line: "keys", help: "All keys of this machine" },
  ],
  standard: "list",
  commands: [
    {
      name: "make",
      summary: "Makes the key of an agent, unless it has one.",
      arguments: [agentArgument],
      options: placeOptions,
      examples: [{ line: "keys make research-1", help: "Prints what an operator needs to admit it" }],
      run: make,
    },
    {
      name: "show",
      summary: "Shows an agent's public key and thumbprint. Never the secret.",
      arguments: [agentArgument],
      options: placeOptions,
      examples: [{ line: "keys show research-1 --json", help: "With the public JWK" }],
      run: show,
    },
    {
      name: "path",
      summary: "Shows where an agent's key is.",
      arguments: [agentArgument],
      options: placeOptions,
      examples: [{ line: 'HANDFAST_KEY="$(handfast keys path research-1)" node worker.js', help: "For a worker" }],
      run: path,
    },
    {
      name: "list",
      summary: "Lists the keys of this machine.",
      examples: [{ line: "keys list", help: "Name, thumbprint, file" }],
      run: list,
    },
    {
      name: "rotate",
      summary: "Hands an agent's name over to a new key, signed by the old one.",
      description: "The old key stays valid for a day, so that running workers can change over; its file is kept.",
      arguments: [agentArgument],
      connects: true,
      examples: [{ line: "keys rotate research-1", help: "Then restart its workers" }],
      run: rotate,
    },
  ],
};

async function make(context: Context): Promise<undefined> {
  const { terminal } = context;
  const place = keyPlace(context);
  const { key, created } = await makeKey(place.path);
  const { key: thumbprint } = key.signer;
  if (terminal.json) terminal.document({ ...place, thumbprint, created, jwk: key.jwk });
  else {
    terminal.print(`${place.agent}  ${thumbprint}`);
    terminal.note(created ? `made ${place.path}` : `${place.path} was there already and stays`);
    terminal.next(`an operator admits it with: handfast start --admit ${place.agent}=${thumbprint}`);
  }
}

async function show(context: Context): Promise<undefined> {
  const { terminal } = context;
  const place = keyPlace(context);
  const { jwk, signer } = await requireKey(place);
  if (terminal.json) terminal.document({ ...place, thumbprint: signer.key, jwk });
  else {
    terminal.lines(
      table([
        ["agent", place.agent],
        ["thumbprint", signer.key],
        ["public key", JSON.stringify(jwk)],
        ["file", place.path],
      ]),
    );
  }
}

async function path(context: Context): Promise<undefined> {
  const { terminal } = context;
  const place = keyPlace(context);
  await requireKey(place);
  if (terminal.json) terminal.document(place);
  else terminal.print(place.path);
}

async function list({ terminal, env, cwd }: Context): Promise<undefined> {
  const places = await listKeys(keyHome(env, cwd));
  const keys = await Promise.all(
    places.map(async (place) => {
      try {
        return { ...place, thumbprint: (await openKey(place.path))?.signer.key ?? null, problem: null };
      } catch (error) {
        return { ...place, thumbprint: null, problem: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
  if (terminal.json) terminal.document({ keys });
  else if (keys.length === 0)
    terminal.note(terminal.spelled("There are no keys yet. Make one: handfast keys make NAME"));
  else {
    const rows = keys.map(({ agent, thumbprint, problem, path: file }) => [agent, thumbprint ?? problem ?? "", file]);
    const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
    terminal.lines(titled(["agent", "thumbprint", "file"], rows, look));
  }
}

async function rotate(context: Context): Promise<undefined> {
  const { terminal } = context;
  const place = keyPlace(context);
  await requireKey(place);
  const client = await context.connect("agent", { agent: place.agent, always: true });
  const done = await terminal.busy("rotating", rotateKey(client, place));
  if (terminal.json) terminal.document(done);
  else {
    terminal.print(`${done.agent}  ${done.thumbprint}`);
    terminal.note(`The old key ${done.old} stays valid for a day; its file is kept as ${done.kept_as}.`);
    terminal.next(`restart the workers of ${done.agent}`);
  }
}
