/** @handfast/openclaw: the plugin as OpenClaw loads it. */

import { Connection } from "./connection.ts";
import { checkHost, type PluginApi } from "./openclaw.ts";
import { gatewayId } from "./sender/origin.ts";
import { sender_tools, senderTools } from "./sender/tools.ts";
import { HandfastService } from "./service.ts";
import { readSettings } from "./settings.ts";
import { shared } from "./shared.ts";
import { worker_tools, workerTools } from "./worker/tools.ts";

/** In these OpenClaw only wants to know what there is, and lends no runtime. */
const without_runtime: ReadonlySet<string> = new Set(["cli-metadata", "setup-only"]);

export default {
  id: "handfast",
  name: "Handfast",
  description: "Handoffs to other agents and from them, with receipts, deadlines and late replies.",
  register(api: PluginApi): void {
    if (without_runtime.has(api.registrationMode ?? "full")) return;
    const sessions = checkHost(api.runtime);
    const settings = readSettings(api.pluginConfig);
    const { logger, runtime } = api;
    const common = shared();
    const connection = new Connection(settings, logger);
    const gateway = () => gatewayId(runtime.state.resolveStateDir());
    const side = { connection, shared: common, gateway };
    api.registerTool((context) => [...senderTools(side, context)], { names: [...sender_tools] });
    api.registerTool((context) => [...workerTools(common, context)], { names: [...worker_tools] });
    const parts = { settings, connection, shared: common, logger, sessions, events: runtime.events, gateway };
    let service: HandfastService | null = null;
    api.registerService({
      id: "handfast",
      start: () => {
        service = new HandfastService(parts);
        service.start();
      },
      stop: async () => {
        await service?.stop();
        service = null;
      },
    });
  },
};
