/** `handfast token`: tokens for callers that cannot sign, such as curl or a webhook. */

import type { Command, Context } from "../command.ts";
import { confirm, yesOption } from "../confirm.ts";
import { CliError } from "../errors.ts";
import { exactly } from "../moments.ts";
import { titled } from "../table.ts";
import { cleanLine } from "../text.ts";

const ofAgent = { flags: "--of <agent>", help: "Whose tokens. Default: the caller's own." };

export const tokenCommand: Command = {
  name: "token",
  summary: "Makes, lists and revokes tokens for callers that cannot sign.",
  examples: [{ line: "token make alice", help: "Shown this once" }],
  commands: [
    {
      name: "make",
      summary: "Makes a token for an agent. It is shown this once.",
      description: "An operator may make one for any agent; in development mode anybody for a new name.",
      arguments: [{ name: "agent", help: "Whom it stands for." }],
      options: [
        { flags: "--offer <capability>", help: "What the agent offers; may be given several times.", many: true },
        { flags: "--label <text>", help: "To tell tokens apart." },
        { flags: "--life <duration>", help: "How long it is valid.", default: "for good" },
      ],
      connects: true,
      examples: [
        { line: 'HANDFAST_TOKEN="$(handfast token make alice)" handfast send upper --text hi', help: "Use it at once" },
        { line: "token make ci --life 30d --label build", help: "One that ends by itself" },
      ],
      run: make,
    },
    {
      name: "list",
      summary: "Lists an agent's tokens, without the tokens themselves.",
      options: [ofAgent],
      connects: true,
      examples: [{ line: "token list --of alice", help: "As an operator" }],
      run: list,
    },
    {
      name: "revoke",
      summary: "Revokes a token, at once and for good.",
      arguments: [{ name: "id", help: "As `token list` shows it." }],
      options: [ofAgent, yesOption],
      connects: true,
      examples: [{ line: "token revoke TOKEN_ID --of alice --yes", help: "Its connections are closed" }],
      run: revoke,
    },
  ],
};

async function make(context: Context): Promise<undefined> {
  const { terminal, options } = context;
  const [agent = ""] = context.arguments;
  const label = options.text("label");
  const life_ms = options.duration("life");
  const capabilities = options.list("offer").map((name) => ({ name }));
  const client = await context.connect("operator");
  const made = await client.call("create_token", {
    body: {
      agent,
      ...(capabilities.length === 0 ? {} : { capabilities }),
      ...(label === undefined ? {} : { label }),
      ...(life_ms === undefined ? {} : { life_ms }),
    },
  });
  if (terminal.json) terminal.document(made);
  else {
    terminal.print(made.token);
    terminal.note(`The token of ${agent} (${made.id}) is shown this once: keep it.`);
    terminal.next("HANDFAST_TOKEN=… handfast send upper --text hello");
  }
}

async function list(context: Context): Promise<undefined> {
  const { terminal, options } = context;
  const client = await context.connect("operator");
  const agent = ownerOf(options.text("of"), client.agent);
  const { tokens } = await client.call("tokens", { query: { agent } });
  if (terminal.json) terminal.document({ tokens });
  else if (tokens.length === 0)
    terminal.note(terminal.spelled(`${agent} has no tokens. Make one: handfast token make ${agent}`));
  else {
    const rows = tokens.map(({ id, hint, label, created_at, expires_at }) => [
      id,
      hint,
      exactly(created_at),
      expires_at === null ? "never" : exactly(expires_at),
      cleanLine(label ?? ""),
    ]);
    const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
    terminal.lines(titled(["id", "ends in", "made", "expires", "label"], rows, look));
  }
}

async function revoke(context: Context): Promise<undefined> {
  const { terminal, options } = context;
  const [id = ""] = context.arguments;
  const client = await context.connect("operator");
  const agent = ownerOf(options.text("of"), client.agent);
  await confirm(context, `Revoke the token ${id} of ${agent} for good?`);
  await client.call("revoke_token", { params: { id }, query: { agent } });
  if (terminal.json) terminal.document({ id, agent, revoked: true });
  else terminal.note(`revoked ${id} of ${agent}`);
}

function ownerOf(named: string | undefined, caller: string): string {
  if (named !== undefined) return named;
  if (caller !== "operator") return caller;
  throw new CliError("usage", "Whose tokens?", "Name the agent with --of AGENT.");
}
