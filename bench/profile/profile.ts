/** `npm run bench -- profile`: where the time of one handoff goes at 256 at once, in the relay and in the client. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plainDisk } from "../disk/disk.ts";
import { DriverProcess } from "../drive/driver-process.ts";
import { type CpuProfile, Inspector, inspectable } from "../inspector.ts";
import type { Say } from "../obtain/say.ts";
import { columns } from "../report/table.ts";
import { startRelay } from "../servers/relay.ts";
import type { Workspace } from "../workspace.ts";
import { type Attribution, attribute } from "./attribute.ts";
import { clientRules, relayRules } from "./parts.ts";

export interface Profile {
  readonly identity: "unsigned" | "signed";
  readonly concurrency: number;
  readonly per_second: number;
  readonly handoffs: number;
  readonly relay: Attribution;
  readonly client: Attribution;
}

export interface ProfileSettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly seconds?: number;
  /** Keeps the profiles there, for other tools. */
  readonly out: string | null;
}

const concurrency = 256;
const interval_us = 200;
const warm_up_seconds = 5;

export async function measureProfiles(settings: ProfileSettings): Promise<readonly Profile[]> {
  return [await measureProfile(settings, "unsigned"), await measureProfile(settings, "signed")];
}

async function measureProfile(settings: ProfileSettings, identity: Profile["identity"]): Promise<Profile> {
  const { workspace, say, seconds = 10, out } = settings;
  const [directory, temporary] = [workspace.folder("profile"), workspace.folder("profile-tmp")];
  const [relay_port, client_port] = [await inspectable(), await inspectable()];
  const relay = await startRelay({ directory, disk: plainDisk, say, node_args: relay_port.node_args });
  const keys = identity === "signed" ? "keys" : "tokens";
  const kind = { name: "handfast", transport: "websocket", identity: keys, pairs: 1 } as const;
  let driver: DriverProcess | null = null;
  try {
    driver = await DriverProcess.open(kind, relay.address, {
      disk: plainDisk,
      temporary,
      node_args: client_port.node_args,
    });
    say(`profile: ${identity}, warming up …`);
    await driver.atOnce(concurrency, warm_up_seconds);
    const inspectors = [await Inspector.attach(relay_port.port), await Inspector.attach(client_port.port)];
    say(`profile: ${identity}, ${seconds} s …`);
    await Promise.all(inspectors.map((inspector) => inspector.startProfile(interval_us)));
    const { handoffs, per_second } = await driver.atOnce(concurrency, seconds);
    const profiles = await Promise.all(inspectors.map((inspector) => inspector.stopProfile()));
    for (const inspector of inspectors) inspector.close();
    const [ofRelay, ofClient] = profiles;
    if (ofRelay === undefined || ofClient === undefined) throw new Error("there are two processes to profile");
    keep(out, identity, { relay: ofRelay, client: ofClient });
    return {
      identity,
      concurrency,
      per_second,
      handoffs,
      relay: attribute(ofRelay, relayRules, handoffs),
      client: attribute(ofClient, clientRules, handoffs),
    };
  } finally {
    await driver?.close();
    await relay.stop();
    for (const path of [directory, temporary]) workspace.remove(path);
  }
}

function keep(out: string | null, identity: string, profiles: Readonly<Record<string, CpuProfile>>): void {
  if (out === null) return;
  mkdirSync(out, { recursive: true });
  for (const [name, profile] of Object.entries(profiles)) {
    writeFileSync(join(out, `${name}-${identity}.cpuprofile`), JSON.stringify(profile));
  }
}

export function profileText(profiles: readonly Profile[]): string {
  const rates = profiles.map(
    ({ identity, per_second, handoffs }) => `${identity} ${per_second}/s (${handoffs} handoffs)`,
  );
  const head = `µs of one handoff at ${concurrency} at once, profiled: ${rates.join(", ")}`;
  return `${[head, partTable(profiles, "relay"), partTable(profiles, "client"), ...profiles.flatMap(topLists)].join("\n\n")}\n`;
}

function partTable(profiles: readonly Profile[], process: "relay" | "client"): string {
  const names = [...new Set(profiles.flatMap((profile) => profile[process].parts.map(({ part }) => part)))];
  const time = (profile: Profile, name: string) =>
    profile[process].parts.find(({ part }) => part === name)?.us_per_handoff;
  const body = names.map((name) => [name, ...profiles.map((profile) => (time(profile, name) ?? 0).toFixed(1))]);
  const busy = profiles.map((profile) => {
    const idle = ["idle", "not running (others had the core)"];
    const parts = profile[process].parts.filter(({ part }) => !idle.includes(part));
    return parts.reduce((sum, { us_per_handoff }) => sum + us_per_handoff, 0).toFixed(1);
  });
  return columns([[process, ...profiles.map(({ identity }) => identity)], ...body, ["busy in all", ...busy]]);
}

function topLists({ identity, relay, client }: Profile): readonly string[] {
  const list = (process: string, { top }: Attribution) => {
    const lines = top.map(({ name, us_per_handoff }) => `${us_per_handoff.toFixed(1).padStart(8)}  ${name}`);
    return [`${process}, ${identity}: functions by their own time`, ...lines].join("\n");
  };
  return [list("relay", relay), list("client", client)];
}
