/**
 * How a command is declared. From the declaration come parsing, `--help`, shell completion and docs/cli.md; `run` gets
 * what was parsed, the terminal and the way to the relay.
 */

import type { Client, ConnectOptions } from "@handfast/client";
import type { ExitName } from "./exit-codes.ts";
import type { Options } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  /** Takes all words that are left; only for the last one. */
  readonly many?: boolean;
  /** Nothing else fits; shell completion offers them. */
  readonly choices?: readonly string[];
}

export interface CommandOption {
  /** As commander writes them: "--timeout <duration>", "-n, --limit <count>", "--no-wait". */
  readonly flags: string;
  readonly help: string;
  /** May be given several times; read it with `options.list`. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** Where else it can be set; for the help only, the reader of the setting knows it too. */
  readonly env?: string;
  readonly key?: string;
  readonly default?: string;
}

interface Example {
  /** Without `handfast` in front. */
  readonly line: string;
  readonly help: string;
}

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** More, for the command's own help. */
  readonly description?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly CommandOption[];
  readonly examples: readonly Example[];
  /** Adds --url, --agent, --key, --token, --token-file and --namespace. */
  readonly connects?: boolean;
  /** Of --agent, where another one calls than the developer of this machine. */
  readonly agentHelp?: string;
  /** Hands words on unparsed (`context.arguments`); the options are for the help only. */
  readonly unparsed?: boolean;
  /** Sub-commands, such as `dead list`; a command has these or `run`. */
  readonly commands?: readonly Command[];
  /** The sub-command that is meant when none is named. */
  readonly standard?: string;
  /** Answers how it ended; nothing is "ok". Errors that it throws are told by errors.ts. */
  readonly run?: (context: Context) => Promise<ExitName | undefined>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Who calls: "agent" is whom flags, environment and handfast.toml name, else the developer of this machine. "operator"
 * is the same if somebody was named, else whoever holds the operator's token that was configured or that lies in the
 * data directory of the relay that is called, if it is on this machine, else the agent: it sees the handoffs of all.
 */
export type Role = "agent" | "operator";

export interface Caller {
  /** Who calls where flags, environment and handfast.toml name nobody. */
  readonly agent?: string;
  /** Whatever they say. */
  readonly always?: boolean;
  /** Under a name of its own: an operator's token admits its key, and does not stand for it. */
  readonly signs?: boolean;
  /** What its manifest says of the agent itself. */
  readonly terms?: Pick<ConnectOptions, "discoveryEndpoint" | "lease" | "manifestVersion">;
  /** Over what: a node that drains closes WebSockets, and goes on answering operators over HTTP. */
  readonly transport?: "http";
  /** Goes on trying until the relay is there, and says so. */
  readonly persists?: boolean;
}

export interface Context {
  readonly terminal: Terminal;
  /** Words that are no options, without those that name the command. */
  readonly arguments: readonly string[];
  readonly options: Options;
  readonly env: Environment;
  readonly cwd: string;
  /**
   * Aborts at the first Ctrl-C or SIGTERM, and the second one ends the process. Reading it puts the handlers up, so read
   * it first; a command that never does is ended by Ctrl-C at once.
   */
  readonly signal: AbortSignal;
  /** Closed by the frame when `run` returns. */
  connect(role?: Role, caller?: Caller): Promise<Client>;
}
