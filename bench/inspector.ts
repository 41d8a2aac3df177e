/** Looks into another Node process that was started with `--inspect`: its heap, its open things, its CPU profile. */

import { freePort } from "./servers/free-port.ts";

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Microseconds, of the machine's monotonic clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** The node that ran, sample by sample, and the microseconds since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Where a process is to be told to listen for us: an argument for Node, and the port in it. */
export async function inspectable(): Promise<{ readonly port: number; readonly node_args: readonly string[] }> {
  const port = await freePort();
  return { port, node_args: [`--inspect=127.0.0.1:${port}`] };
}

export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #number = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#hear(String(data)));
    socket.addEventListener("close", () => this.#fail("the inspected process is gone"));
  }

  static async attach(port: number): Promise<Inspector> {
    const targets: unknown = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    const [first]: readonly unknown[] = Array.isArray(targets) ? targets : [];
    const url = textOf(first, "webSocketDebuggerUrl");
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve(), { once: true });
      socket.addEventListener("error", () => reject(new Error(`nobody listens at ${url}`)), { once: true });
    });
    return new Inspector(socket);
  }

  /** What is really held: the heap after its garbage was collected. */
  async heapBytes(): Promise<number> {
    await this.#call("HeapProfiler.collectGarbage");
    const usage: unknown = await this.#call("Runtime.getHeapUsage");
    if (typeof usage === "object" && usage !== null && "usedSize" in usage) return Number(usage.usedSize);
    throw new Error("the process did not tell its heap");
  }

  /** The value of an expression in that process, as JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const answer: unknown = await this.#call("Runtime.evaluate", { expression, returnByValue: true });
    if (typeof answer !== "object" || answer === null || !("result" in answer)) throw new Error("no answer");
    const { result } = answer;
    return typeof result === "object" && result !== null && "value" in result ? result.value : undefined;
  }

  async startProfile(interval_us: number): Promise<void> {
    await this.#call("Profiler.enable");
    await this.#call("Profiler.setSamplingInterval", { interval: interval_us });
    await this.#call("Profiler.start");
  }

  async stopProfile(): Promise<CpuProfile> {
    const answer = (await this.#call("Profiler.stop")) as { readonly profile: CpuProfile };
    return answer.profile;
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    this.#number += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#number, waiting);
    this.#socket.send(JSON.stringify({ id: this.#number, method, params }));
    return waiting.promise;
  }

  #hear(text: string): void {
    const { id, result, error }: Reply = JSON.parse(text);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error.message));
  }

  #fail(why: string): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new Error(why));
    this.#waiting.clear();
  }
}

function textOf(value: unknown, name: string): string {
  const found =
    typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name) : undefined;
  if (typeof found?.[1] !== "string") throw new Error(`the inspected process does not tell its ${name}`);
  return found[1];
}
