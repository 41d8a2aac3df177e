/**
 * Every command, in the order of the help. Each is loaded only when it is typed: what `send` needs would make `version`
 * wait.
 */

import type { Command } from "./command.ts";

interface Group {
  readonly names: readonly string[];
  readonly load: () => Promise<readonly Command[]>;
}

const groups: readonly Group[] = [
  { names: ["start"], load: async () => [(await import("./start.ts")).startCommand] },
  { names: ["demo"], load: async () => [(await import("./demo/command.ts")).demo] },
  { names: ["serve"], load: async () => [(await import("./serve/serve.ts")).serveCommand] },
  { names: ["send"], load: async () => [(await import("./send/send.ts")).sendCommand] },
  { names: ["find"], load: async () => [(await import("./find/find.ts")).findCommand] },
  { names: ["negotiate"], load: async () => [(await import("./find/negotiate.ts")).negotiateCommand] },
  { names: ["contracts"], load: async () => [(await import("./find/contracts.ts")).contractsCommand] },
  {
    names: ["list", "show", "why", "watch", "tree", "questions", "answer", "outcomes", "cancel", "dead", "log"],
    load: async () => (await import("./inspect/mod.ts")).inspectCommands,
  },
  { names: ["manifest"], load: async () => [(await import("./manifest/command.ts")).manifestCommand] },
  { names: ["agents"], load: async () => [(await import("./operate/agents.ts")).agentsCommand] },
  { names: ["routes"], load: async () => [(await import("./operate/routes.ts")).routesCommand] },
  { names: ["keys"], load: async () => [(await import("./keys/keys.ts")).keysCommand] },
  { names: ["token"], load: async () => [(await import("./operate/token.ts")).tokenCommand] },
  { names: ["nodes"], load: async () => [(await import("./operate/nodes.ts")).nodesCommand] },
  { names: ["drain"], load: async () => [(await import("./operate/drain.ts")).drainCommand] },
  { names: ["backup"], load: async () => [(await import("./operate/backup.ts")).backupCommand] },
  { names: ["export"], load: async () => [(await import("./stores/export.ts")).exportCommand] },
  { names: ["import"], load: async () => [(await import("./stores/import.ts")).importCommand] },
  { names: ["migrate"], load: async () => [(await import("./stores/migrate.ts")).migrateCommand] },
  { names: ["doctor"], load: async () => [(await import("./doctor/doctor.ts")).doctorCommand] },
  { names: ["conformance"], load: async () => [(await import("./conformance.ts")).conformanceCommand] },
  { names: ["test-relay"], load: async () => [(await import("./test-relay/command.ts")).testRelayCommand] },
  { names: ["explain"], load: async () => [(await import("./explain.ts")).explainCommand] },
  { names: ["completion"], load: async () => [(await import("./completion.ts")).completionCommand(allCommands)] },
  { names: ["version"], load: async () => [(await import("./version-command.ts")).versionCommand] },
];

/** For the help of all, the docs, shell completion, and to say what a mistyped word may have meant. */
export async function allCommands(): Promise<readonly Command[]> {
  return (await Promise.all(groups.map(({ load }) => load()))).flat();
}

/** Those that the first word may mean; all, where it means none. */
export async function commandsFor(argv: readonly string[]): Promise<readonly Command[]> {
  const word = argv.find((each) => !each.startsWith("-"));
  const group = groups.find(({ names }) => word !== undefined && names.includes(word));
  return group === undefined ? allCommands() : group.load();
}
