/** OpenClaw: a gateway with the plugin of adapters/openclaw, and a scripted model behind it. */

import {
  installHost,
  installPlugin,
  NoOpenClaw,
  openclawVersion,
} from "../../adapters/openclaw/test/support/install.ts";
import { type Prepared, type Row, Unavailable } from "../cast/row.ts";
import { OpenClawSender } from "../programs/openclaw-sender.ts";
import { OpenClawWorker } from "../programs/openclaw-worker.ts";

const name = "openclaw";
/** As many sub-agents as OpenClaw lets run at once, unless it is told otherwise. */
const slots = 8;

export const row: Row = {
  name,
  title: "OpenClaw",
  sender_gaps: {},
  worker_gaps: {},
  signs: true,
  quick: false,
  begins_within_ms: 15_000,
  slots,
  async prepare(say): Promise<Prepared> {
    return {
      versions: { Node: process.versions.node, openclaw: installed(say) },
      openWorker: (stage) => OpenClawWorker.open(stage, name, slots),
      openSender: (stage) => OpenClawSender.open(stage),
    };
  },
};

function installed(say: (line: string) => void): string {
  try {
    installHost(say);
    installPlugin(say);
    return openclawVersion();
  } catch (error) {
    throw error instanceof NoOpenClaw ? new Unavailable(error.message) : error;
  }
}
