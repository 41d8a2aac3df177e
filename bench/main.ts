/** `npm run bench`: full durable handoffs, ours and the peers', side by side. `--help` tells the rest. */

import { onPostgresText, runOnPostgres } from "./cluster/on-postgres.ts";
import { type CommandName, help, readSettings, type Settings, UsageMistake } from "./command-line.ts";
import { comparisonText, install, runComparison } from "./comparison.ts";
import { discoveryText, measureDiscovery } from "./discovery/discovery.ts";
import { drive } from "./drive/drive.ts";
import { idleLines, measureIdle } from "./idle/idle.ts";
import { type Say, sayOnStderr as say } from "./obtain/say.ts";
import { measureProfiles, profileText } from "./profile/profile.ts";
import { measureRecovery, recoveryLines } from "./recovery/recovery.ts";
import { measureRouting, routingText } from "./routing/routing.ts";
import { soak, soakText } from "./soak/soak.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

/** What a command found: for machines, for people, and whether its own bounds held. */
interface Result {
  readonly value: unknown;
  readonly text: string;
  readonly holds: boolean;
}

const run: Readonly<Record<CommandName, (settings: Settings) => Promise<Result>>> = {
  compare: async (settings) => {
    if (settings.store === "postgres") {
      const found = await runOnPostgres(settings, say);
      return { value: found, text: onPostgresText(found), holds: true };
    }
    const comparison = await runComparison(settings, say);
    return { value: comparison, text: comparisonText(comparison), holds: true };
  },
  idle: (settings) =>
    inWorkspace(settings, async (places) => {
      const idle = await measureIdle({
        ...places,
        ...given("workers", settings.fill),
        ...given("seconds", settings.seconds),
      });
      return { value: idle, text: `${idleLines(idle)}\n`, holds: true };
    }),
  recovery: (settings) =>
    inWorkspace(settings, async (places) => {
      const recovery = await measureRecovery({ ...places, ...given("open_handoffs", settings.fill) });
      return { value: recovery, text: `${recoveryLines(recovery)}\n`, holds: true };
    }),
  soak: (settings) =>
    inWorkspace(settings, async (places) => {
      const soaked = await soak({ ...places, ...given("minutes", settings.minutes), ...given("rate", settings.rate) });
      return { value: soaked, text: soakText(soaked), holds: soaked.bounds.every(({ holds }) => holds) };
    }),
  profile: (settings) =>
    inWorkspace(settings, async (places) => {
      const profiles = await measureProfiles({ ...places, out: settings.out, ...given("seconds", settings.seconds) });
      return { value: profiles, text: profileText(profiles), holds: true };
    }),
  discovery: (settings) =>
    inWorkspace(settings, async (places) => {
      const found = await measureDiscovery({
        ...places,
        ...given("manifests", settings.fill),
        ...given("seconds", settings.seconds),
      });
      return { value: found, text: discoveryText(found), holds: true };
    }),
  routing: (settings) =>
    inWorkspace(settings, async (places) => {
      const warm_up_seconds = settings.quick ? 1 : null;
      const routing = await measureRouting({
        ...places,
        ...given("rounds", settings.rounds),
        ...given("seconds", settings.seconds),
        ...given("warm_up_seconds", warm_up_seconds),
      });
      return { value: routing, text: routingText(routing), holds: true };
    }),
  install: async () => {
    await install(say);
    return { value: {}, text: "", holds: true };
  },
};

async function inWorkspace<T>(
  { directory }: Settings,
  act: (places: { readonly workspace: Workspace; readonly say: Say }) => Promise<T>,
): Promise<T> {
  const workspace = openWorkspace(directory);
  try {
    return await act({ workspace, say });
  } finally {
    workspace.close();
  }
}

function given<Name extends string>(name: Name, value: number | null): { [name in Name]?: number } {
  const found: { [name in Name]?: number } = {};
  if (value !== null) found[name] = value;
  return found;
}

async function main(): Promise<number> {
  // Somebody's own relay, key or token would be measured in place of ours.
  for (const name of Object.keys(process.env)) if (name.startsWith("HANDFAST_")) delete process.env[name];
  const settings = readSettings(process.argv.slice(2));
  if (settings === null) {
    process.stdout.write(help);
    return 0;
  }
  const { value, text, holds } = await run[settings.command](settings);
  process.stdout.write(settings.json ? `${JSON.stringify(value, null, 2)}\n` : text);
  return holds ? 0 : 1;
}

if (process.argv[2] === "drive") drive();
else {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof UsageMistake)) throw error;
    process.stderr.write(`${error.message} --help tells more.\n`);
    process.exitCode = 64;
  }
}
