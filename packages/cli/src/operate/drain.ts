/** `handfast drain`: takes a node out before it is replaced, and says when nothing is under way there any more. */

import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@handfast/client";
import type { NodeView } from "@handfast/protocol/wire";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import { span } from "../moments.ts";
import { cleanLine } from "../text.ts";
import { underWay } from "./nodes.ts";

const default_timeout_ms = 60_000;
const look_every_ms = 250;

export const drainCommand: Command = {
  name: "drain",
  summary: "Lets a node take no new work, and waits until nothing is under way there.",
  description:
    "For operators, at any node of the relay or before all of them. The node's /readyz answers 503, claims that wait there end empty, " +
    "WebSockets are sent to other nodes, calls in flight finish, and what comes anew is refused with 503. Leases stay valid: " +
    "workers go on at another node. A node that is started again takes work again.",
  arguments: [{ name: "node", help: "Its name (--node of `handfast start`); `handfast nodes` lists them." }],
  options: [
    { flags: "--undo", help: "Lets it take work again." },
    {
      flags: "--timeout <duration>",
      help: "How long to wait; the node goes on draining when that is over.",
      default: "60s",
    },
  ],
  connects: true,
  examples: [
    { line: "drain n2", help: "Then stop it: nobody notices" },
    { line: "drain n2 --timeout 5m --json", help: "In a script of an upgrade" },
    { line: "drain n2 --undo", help: "It stays after all" },
  ],
  run,
};

async function run(context: Context): Promise<undefined> {
  const { terminal, options, signal } = context;
  const [name = ""] = context.arguments;
  const undo = options.flag("undo");
  const timeout_ms = options.duration("timeout") ?? default_timeout_ms;
  const client = await context.connect("operator", { transport: "http" });
  const asked = undo
    ? await client.call("undrain_node", { params: { name } })
    : await client.call("drain_node", { params: { name }, body: {} });
  const lives = new Set(asked.nodes.map(({ life }) => life));
  const wait = new Wait(context, client, { name, lives, undo, until: performance.now() + timeout_ms, timeout_ms });
  const nodes = await wait.over(asked.nodes, signal);
  if (terminal.json) terminal.document({ node: name, draining: !undo, nodes });
  else terminal.print(`${cleanLine(name)} ${inWords(nodes, undo)}`);
}

interface Waited {
  readonly name: string;
  /** Of those that were asked: one that is started meanwhile is not meant. */
  readonly lives: ReadonlySet<string>;
  readonly undo: boolean;
  /** By the monotonic clock. */
  readonly until: number;
  readonly timeout_ms: number;
}

class Wait {
  readonly #context: Context;
  readonly #client: Client;
  readonly #waited: Waited;
  #told = "";

  constructor(context: Context, client: Client, waited: Waited) {
    this.#context = context;
    this.#client = client;
    this.#waited = waited;
  }

  /** How the nodes are once they are as was asked. */
  async over(first: readonly NodeView[], signal: AbortSignal): Promise<readonly NodeView[]> {
    const { lives, undo, until } = this.#waited;
    for (let nodes = first; ; ) {
      const left = nodes.filter(({ state }) => !(undo ? settled_undone : settled).has(state));
      if (left.length === 0) return nodes;
      if (!undo) this.#checkAsked(nodes);
      if (performance.now() >= until) throw this.#tooLate(left);
      this.#tell(left);
      await pause(look_every_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
      const page = await this.#client.call("nodes", {});
      nodes = page.nodes.filter(({ life }) => lives.has(life));
    }
  }

  #tell(left: readonly NodeView[]): void {
    const { terminal } = this.#context;
    const line = `${cleanLine(this.#waited.name)} ${this.#inWords(left)}`;
    if (terminal.isLive) terminal.live(line);
    else if (!terminal.json && line !== this.#told) terminal.note(`progress: ${line}`);
    this.#told = line;
  }

  #inWords(left: readonly NodeView[]): string {
    if (this.#waited.undo) return "was asked to take work again";
    const what = underWay(left);
    return what === null ? "was asked to drain" : `drains: ${what} still there`;
  }

  /** Somebody else may have taken it back; or the database was lost, and with it that it was asked. */
  #checkAsked(nodes: readonly NodeView[]): void {
    if (!nodes.some(({ state }) => state === "running")) return;
    const { name } = this.#waited;
    throw new CliError("retryable", `${name} takes work again: that it should drain was taken back.`, again(name));
  }

  #tooLate(left: readonly NodeView[]): CliError {
    const { name, timeout_ms, undo } = this.#waited;
    const what = underWay(left);
    const why = what === null ? "it has not said so yet" : `${what} still there`;
    const message = undo
      ? `${name} was asked to take work again, and did not within ${span(timeout_ms)}.`
      : `${name} is not drained after ${span(timeout_ms)}: ${why}. It goes on draining.`;
    return new CliError("retryable", message, again(name, " --timeout 10m"));
  }
}

const settled: ReadonlySet<NodeView["state"]> = new Set(["drained", "ended", "gone"]);
const settled_undone: ReadonlySet<NodeView["state"]> = new Set(["running", "ended", "gone"]);

function again(name: string, more = ""): string {
  return `Wait for it again: handfast drain ${name}${more}. Take it back: handfast drain ${name} --undo.`;
}

function inWords(nodes: readonly NodeView[], undo: boolean): string {
  if (nodes.every(({ state }) => state === "ended" || state === "gone")) return "has ended";
  return undo ? "takes work again" : "is drained: nothing is under way there; stop it, or take it back with --undo";
}
