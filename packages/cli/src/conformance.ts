/** `handfast conformance`: whether a relay, ours or another, keeps the promises of the specification. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  checks,
  countsOf,
  listLines,
  NoRelay,
  NotAdmitted,
  type ReportStyle,
  renderReport,
  reportJson,
  restartBy,
  runConformance,
  selectChecks,
  type Target,
  Unreached,
} from "@handfast/conformance";
import { readClientSettings } from "./client-settings.ts";
import type { Command, Context } from "./command.ts";
import { CliError } from "./errors.ts";
import type { ExitName } from "./exit-codes.ts";

export const conformanceCommand: Command = {
  name: "conformance",
  summary: "Tries whether a relay keeps the promises of the specification.",
  description:
    "Black-box tests over HTTP and WebSocket, one for each promise. It makes agents and handoffs of its own: do not try a relay in production use.\nAll of it takes about a minute: 65 s on two busy cores.\nOutside development mode it needs the operator's token, to admit its agents. What needs more than it was given is reported as not tried.",
  arguments: [{ name: "url", help: "Where the relay is. Default: as for other commands.", optional: true }],
  options: [
    {
      flags: "--url <url>",
      help: "The same, as for other commands.",
      env: "HANDFAST_URL",
      key: "client.url",
    },
    {
      flags: "--only <word>",
      help: "An id, what the ids of a section begin with, or a page. May be repeated.",
      many: true,
    },
    { flags: "--list", help: "Shows the promises and tries nothing." },
    { flags: "--failures", help: "Shows only what is broken." },
    {
      flags: "--operator-token-file <file>",
      help: "File with the operator's token.",
      env: "HANDFAST_OPERATOR_TOKEN",
    },
    {
      flags: "--restart <command>",
      help: "Kills the relay, as a loss of power would, and starts it again on its data.",
    },
    {
      flags: "--short-lived <url>",
      help: "Another relay of the same kind, with the same token, that keeps ended handoffs for seconds.",
    },
    { flags: "--short-lived-restart <command>", help: "Kills that one and starts it again." },
  ],
  examples: [
    { line: "conformance http://127.0.0.1:7420", help: "A relay in development mode" },
    { line: "conformance --only FENCE --only events.md", help: "Some of the promises" },
    {
      line: "conformance http://127.0.0.1:8080 --operator-token-file token --restart ./restart.sh --json",
      help: "All of them, with a report for programs",
    },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options } = context;
  const selected = select(options.list("only"));
  if (options.flag("list")) {
    if (terminal.json) terminal.document(selected.map(({ id, promise, section }) => ({ id, promise, section })));
    else terminal.lines(listLines(selected));
    return "ok";
  }
  const report = await tried(context, selected);
  if (terminal.json) terminal.document(reportJson(report));
  else terminal.lines(renderReport(report, styleOf(context), { failures_only: options.flag("failures") }));
  if (report.cut_short !== null) return "unreachable";
  return countsOf(report).broken === 0 ? "ok" : "ended";
}

function select(words: readonly string[]) {
  try {
    return selectChecks(checks, words);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CliError("usage", error.message, "handfast conformance --list shows them.");
    throw error;
  }
}

async function tried(context: Context, selected: typeof checks) {
  const { terminal } = context;
  const target = targetOf(context);
  try {
    return await runConformance(target, {
      checks: selected,
      onTried: ({ check, transport }, done, of) => terminal.live(`${done}/${of} ${check.id} ${transport}`),
    });
  } catch (error) {
    throw told(error);
  }
}

/** Why nothing at all was tried, for a person. */
function told(error: unknown): unknown {
  if (error instanceof Unreached) {
    return new CliError("unreachable", `${error.message}.`, "Start the relay, or check the URL.");
  }
  if (error instanceof NoRelay) return new CliError("unreachable", `${error.message}.`, "Check the URL.");
  if (!(error instanceof NotAdmitted)) return error;
  switch (error.why) {
    case "token_needed":
      return new CliError(
        "denied",
        `The relay admits no agents of the suite: ${error.message}.`,
        "Outside development mode give the operator's token: HANDFAST_OPERATOR_TOKEN or --operator-token-file.",
      );
    case "token_refused":
      return new CliError(
        "denied",
        `The relay refuses the operator's token that was given: ${error.message}.`,
        "Check HANDFAST_OPERATOR_TOKEN or --operator-token-file: it must be the token that this relay was started with.",
      );
    case "registration_fails":
      return new CliError(
        "unreachable",
        `No agent can be registered, so nothing can be tried: ${error.message}.`,
        "Registration is described in spec/wire.md.",
      );
  }
}

function urlOf({ options, arguments: words, env, cwd }: Context): string {
  const [named] = words;
  const flag = options.text("url");
  if (named !== undefined && flag !== undefined && named !== flag) {
    throw new CliError("usage", `Two relays are named: ${named}, and --url ${flag}.`, "Name one of them.");
  }
  return named ?? readClientSettings(options, env, cwd).url;
}

function targetOf(context: Context): Target {
  const { options, env, cwd } = context;
  const url = urlOf(context);
  if (!/^https?:\/\//.test(url)) throw new CliError("usage", `${JSON.stringify(url)} is no URL of a relay.`);
  const file = options.text("operator-token-file");
  const given = file === undefined ? env["HANDFAST_OPERATOR_TOKEN"] : readFileSync(resolve(cwd, file), "utf8").trim();
  const operator_token = given === undefined || given === "" ? null : given;
  const restart = (flag: string, where: string) => {
    const command = options.text(flag);
    return command === undefined ? null : restartBy(command, where);
  };
  const second = options.text("short-lived");
  return {
    url,
    operator_token,
    restart: restart("restart", url),
    short_lived:
      second === undefined ? null : { url: second, operator_token, restart: restart("short-lived-restart", second) },
  };
}

function styleOf({ terminal }: Context): ReportStyle {
  return {
    good: (text) => terminal.style("green", text),
    bad: (text) => terminal.style("red", text),
    dim: (text) => terminal.style("dim", text),
  };
}
