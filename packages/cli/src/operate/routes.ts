/** `handfast routes`: how work for a capability is divided among its versions. */

import type { RouteBody } from "@handfast/protocol/wire";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import { exactly } from "../moments.ts";
import { titled } from "../table.ts";

export const routesCommand: Command = {
  name: "routes",
  summary: "Lists, sets and drops how work is divided among the versions of a capability.",
  description:
    "Work whose sender asks for no version is put under one of the ranges by its weight; where nobody there offers " +
    "that range, it goes to any version.",
  examples: [{ line: "routes", help: "Those there are" }],
  standard: "list",
  commands: [
    {
      name: "list",
      summary: "Lists the routes.",
      connects: true,
      examples: [{ line: "routes list --json", help: "For a script" }],
      run: list,
    },
    {
      name: "set",
      summary: "Divides the work for a capability among ranges of versions.",
      arguments: [
        { name: "capability", help: "Whose work." },
        { name: "range=weight", help: "A range of versions and its share of all weights.", many: true },
      ],
      connects: true,
      examples: [{ line: "routes set web_research 1.x=90 2.x=10", help: "A tenth to the new version" }],
      run: set,
    },
    {
      name: "drop",
      summary: "Lets the work for a capability go to any version again.",
      arguments: [{ name: "capability", help: "Whose work." }],
      connects: true,
      examples: [{ line: "routes drop web_research", help: "What was put under a range stays there" }],
      run: drop,
    },
  ],
};

async function list({ terminal, connect }: Context): Promise<undefined> {
  const { routes } = await (await connect("operator")).call("routes", {});
  if (terminal.json) terminal.document({ routes });
  else if (routes.length === 0) {
    terminal.note("No routes: work goes to any version.");
    terminal.next("handfast routes set CAPABILITY 1.x=90 2.x=10");
  } else {
    const rows = routes.map(({ capability, weights, set_at, set_by }) => [
      capability,
      shares(weights),
      exactly(set_at),
      set_by,
    ]);
    const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
    terminal.lines(titled(["capability", "versions", "set", "by"], rows, look));
  }
}

async function set({ terminal, arguments: [capability = "", ...words], connect }: Context): Promise<undefined> {
  const weights = words.map(readWeight);
  const client = await connect("operator");
  const route = await client.call("set_route", { params: { capability }, body: { weights } });
  if (terminal.json) terminal.document(route);
  else terminal.print(`${capability}: ${shares(route.weights)}`);
}

async function drop({ terminal, arguments: [capability = ""], connect }: Context): Promise<undefined> {
  const client = await connect("operator");
  await client.call("drop_route", { params: { capability } });
  if (terminal.json) terminal.document({ capability, dropped: true });
  else terminal.note(`dropped: work for ${capability} goes to any version`);
}

function readWeight(word: string): RouteBody["weights"][number] {
  // The last one: a range may have equals signs of its own.
  const at = word.lastIndexOf("=");
  const [version, weight] = [word.slice(0, at), word.slice(at + 1)];
  if (at > 0 && /^\d{1,7}$/.test(weight)) return { version, weight: Number(weight) };
  throw new CliError("usage", `${JSON.stringify(word)} is no range with its weight.`, "Write RANGE=WEIGHT, as 1.x=90.");
}

function shares(weights: RouteBody["weights"]): string {
  const total = weights.reduce((sum, { weight }) => sum + weight, 0);
  return weights.map(({ version, weight }) => `${version} ${percent(weight / total)}`).join(", ");
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
