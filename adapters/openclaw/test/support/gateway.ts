/** A real OpenClaw gateway in a process of its own, with its state in a folder of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endsWithUs } from "../../../../tests/support/end-at-once.ts";
import { pluginsWith } from "./guide.ts";
import { openclaw_program } from "./places.ts";

export interface GatewayOptions {
  readonly model_url: string;
  /** Of the plugin, over what the guide shows. */
  readonly handfast: object;
  /** Its state, for one that outlives this object. Left out: a new one, which goes with it. */
  readonly folder?: string;
}

/** For whoever looks for what went wrong. */
const log_file = process.env["OPENCLAW_TEST_LOG"];
const token = "token-of-the-test";
const start_patience_ms = 300_000;
/** On a busy machine its event loop alone takes a quarter of a minute to hear of the signal. */
const end_patience_ms = 60_000;

export class Gateway {
  readonly #folder: string;
  readonly #model_url: string;
  readonly #isKept: boolean;
  #handfast: object;
  #child: ChildProcess | null = null;
  #port = 0;
  #said = "";
  log = "";

  private constructor({ model_url, handfast, folder }: GatewayOptions) {
    this.#model_url = model_url;
    this.#handfast = handfast;
    this.#isKept = folder !== undefined;
    this.#folder = folder ?? mkdtempSync(join(tmpdir(), "handfast-openclaw-"));
  }

  static async start(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    try {
      await gateway.resume();
    } catch (error) {
      await gateway.remove();
      throw error;
    }
    return gateway;
  }

  /** Starts it on the state that it had. */
  async resume(): Promise<void> {
    this.#port = await freePort();
    for (const agent of ["main", "worker"]) mkdirSync(join(this.#folder, agent), { recursive: true });
    this.#write(this.#startConfig());
    const child = spawn(process.execPath, [openclaw_program, "gateway", "run"], {
      cwd: this.#folder,
      env: {
        PATH: process.env["PATH"],
        HOME: this.#folder,
        OPENCLAW_STATE_DIR: join(this.#folder, "state"),
        OPENCLAW_CONFIG_PATH: this.#configPath,
        OPENCLAW_SKIP_CHANNELS: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    endsWithUs(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        this.#said = (this.#said + chunk.toString()).slice(-1_000_000);
        this.log = (this.log + chunk.toString()).slice(-1_000_000);
        if (log_file !== undefined) appendFileSync(log_file, chunk);
      });
    }
    await this.#ready(child);
  }

  async #ready(child: ChildProcess): Promise<void> {
    const until = performance.now() + start_patience_ms;
    while (performance.now() < until) {
      if (child.exitCode !== null) break;
      if (this.#said.includes("config reload failed")) throw new Error(`no reload:\n${this.#said.slice(-4_000)}`);
      const reply = await fetch(`http://127.0.0.1:${this.#port}/readyz`).catch(() => null);
      const is_ready = reply !== null && (await reply.text()).includes('"ready":true');
      // The plugin connects beside the start of the gateway.
      if (is_ready && /handfast: \S+ at http/.test(this.#said)) return;
      await sleep(200);
    }
    throw new Error(`the gateway did not start:\n${this.log.slice(-4_000)}`);
  }

  /** Gives the plugin another configuration while the gateway runs, which watches its file; resolves when it has it. */
  async reconfigure(handfast: object): Promise<void> {
    const child = this.#child;
    if (child === null) throw new Error("the gateway does not run");
    this.rewrite(handfast);
    await this.#ready(child);
  }

  /** Writes another configuration of the plugin into the file, and does not wait for anything. */
  rewrite(handfast: object): void {
    this.#handfast = handfast;
    // The gateway has added to the file what it wants there.
    const config: object = JSON.parse(readFileSync(this.#configPath, "utf8"));
    this.#write({ ...config, plugins: pluginsWith(handfast) });
  }

  /** What it said since its plugin was last told to start. */
  get said(): string {
    return this.#said;
  }

  #write(config: object): void {
    this.#said = "";
    writeFileSync(this.#configPath, JSON.stringify(config, null, 2));
  }

  get #configPath(): string {
    return join(this.#folder, "openclaw.json");
  }

  /** What a gateway has made of its file stays: without that it migrates it anew at each start, for ten seconds and more. */
  #startConfig(): object {
    const wanted = this.#config();
    if (!existsSync(this.#configPath)) return wanted;
    const { gateway, models, plugins } = wanted;
    const left: typeof wanted = JSON.parse(readFileSync(this.#configPath, "utf8"));
    return { ...left, gateway: { ...left.gateway, ...gateway }, models, plugins };
  }

  #config() {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = {
      id: "fake-1",
      name: "Fake",
      contextWindow: 128_000,
      maxTokens: 4_096,
      input: ["text"],
      reasoning: false,
      cost,
    };
    return {
      gateway: {
        mode: "local",
        port: this.#port,
        bind: "loopback",
        auth: { mode: "token", token },
        http: { endpoints: { responses: { enabled: true } } },
      },
      models: {
        mode: "replace",
        providers: { fake: { baseUrl: this.#model_url, apiKey: "x", api: "openai-completions", models: [model] } },
      },
      agents: {
        defaults: { model: { primary: "fake/fake-1" }, workspace: join(this.#folder, "main"), skipBootstrap: true },
        entries: { main: {}, worker: { workspace: join(this.#folder, "worker") } },
      },
      tools: { profile: "full", toolSearch: false },
      plugins: pluginsWith(this.#handfast),
    };
  }

  /** A turn of a person in a session, up to the agent's reply. */
  async turn(sessionKey: string, input: string): Promise<string> {
    const agent = sessionKey.split(":")[1] ?? "main";
    const response = await fetch(`http://127.0.0.1:${this.#port}/v1/responses`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "x-openclaw-session-key": sessionKey,
      },
      body: JSON.stringify({ model: `openclaw/${agent}`, input }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the turn was refused (${response.status}): ${text}`);
    const { output }: { output: readonly { content?: readonly { text?: string }[] }[] } = JSON.parse(text);
    return output.flatMap(({ content = [] }) => content.map(({ text: said = "" }) => said)).join("\n");
  }

  /** Dies without a word. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** One that does not end when it is told to is killed, and that is a fault. */
  async stop(): Promise<void> {
    try {
      await this.#end("SIGTERM");
    } finally {
      await this.remove();
    }
  }

  async remove(): Promise<void> {
    await this.#end("SIGKILL");
    if (this.#isKept) return;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    let is_late = false;
    const late = setTimeout(() => {
      is_late = true;
      child.kill("SIGKILL");
    }, end_patience_ms);
    await ended;
    clearTimeout(late);
    if (is_late)
      throw new Error(`the gateway did not end within ${end_patience_ms / 1_000} s of SIGTERM, and was killed`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
