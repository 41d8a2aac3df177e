import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import { loadRelay } from "./load-relay.ts";
import { crash, fail, hang, type TestRelay, testRelay } from "./mod.ts";

let relay: TestRelay;
beforeEach(async () => {
  relay = await testRelay();
});
afterEach(() => relay.stop());

describe("time", () => {
  test("begins when it is told to, and stands still by itself", async () => {
    const other = await testRelay({ startAt: new Date("2030-05-01T12:00:00Z") });
    await other.settle();
    expect(new Date(other.now()).toISOString()).toBe("2030-05-01T12:00:00.000Z");
    await other.stop();
  });

  test("passes as far as it was told, in any unit", async () => {
    const began = relay.now();
    await relay.advance("1h");
    await relay.advance(250);
    expect(relay.now() - began).toBe(3_600_250);
    await expect(relay.advance("soon" as never)).rejects.toThrow("not a duration");
  });

  test("passes once for each who asks, one after the other", async () => {
    const began = relay.now();
    await Promise.all([relay.advance("1m"), relay.advance("2m")]);
    expect(relay.now() - began).toBe(180_000);
  });

  test("until gives up with what to do about it", async () => {
    await expect(relay.until(new Promise(() => {}), { within: "10m" })).rejects.toMatchObject({
      reason: "never_happened",
      message: expect.stringContaining("within 10m of virtual time"),
      remedy: expect.stringContaining("relay.events()"),
    });
  });

  test("until needs no time for what has happened, and rejects with what the promise rejects with", async () => {
    const began = relay.now();
    expect(await relay.until(Promise.resolve(7))).toBe(7);
    await expect(relay.until(Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    expect(relay.now()).toBe(began);
  });

  test("sleeps for whoever waits for it", async () => {
    const began = relay.now();
    const woke: number[] = [];
    for (const duration of ["3s", "1s", "2s"] as const) {
      void relay.sleep(duration).then(() => woke.push(relay.now() - began));
    }
    await relay.advance("2s");
    expect(woke).toEqual([1_000, 2_000]);
  });
});

describe("every run is the same", () => {
  async function story(seed: number): Promise<string> {
    const world = await testRelay({ seed });
    const [alice, bob] = [await world.connect("alice"), await world.connect("bob")];
    world.fake("research", [fail("busy"), crash, { found: 1 }]);
    world.fake("shout", async (input: string, ctx) => {
      await ctx.checkpoint({ input });
      return input.toUpperCase();
    });
    const sent = await Promise.all([
      alice.send("research", { n: 1 }),
      bob.send("shout", "a"),
      bob.send("research", { n: 2 }),
      alice.send("shout", "b"),
    ]);
    await world.until(Promise.all(sent.map((handle) => handle.result())));
    const events = await world.events();
    await world.stop();
    return JSON.stringify(events);
  }

  test("with the same seed, to the last id, salt and millisecond; with another, it differs", async () => {
    const first = await story(7);
    expect(await story(7)).toBe(first);
    expect(await story(8)).not.toBe(first);
  });
});

test("a relay that was stopped says so to whoever comes after", async () => {
  await relay.stop();
  await expect(relay.connect("late")).rejects.toMatchObject({ reason: "stopped" });
  await expect(relay.advance("1s")).rejects.toMatchObject({ reason: "stopped" });
});

describe("fakes", () => {
  test("are there before anything that is sent after them, though nobody awaited them", async () => {
    const alice = await relay.connect("alice");
    const sent = [];
    for (const capability of ["one", "two", "three"]) {
      relay.fake(capability, () => capability);
      sent.push(alice.send(capability, {}).then((handle) => handle.result()));
    }
    expect(await Promise.all(sent)).toEqual(["one", "two", "three"]);
  });

  test("go on with the last step of their script", async () => {
    const alice = await relay.connect("alice");
    relay.fake("count", ["first", "then"]);
    const once = await alice.send("count", {});
    const twice = await alice.send("count", {});
    expect([await once.result(), await twice.result()]).toEqual(["first", "first"]);
  });

  test("say what is wrong with them where somebody waits", async () => {
    relay.fake("research", () => 1, { input: "no schema" });
    await expect(relay.advance("1s")).rejects.toThrow("input of research");
  });

  test("need a handler or a script", () => {
    expect(() => relay.fake("research", [])).toThrow("neither a handler nor a script");
    expect(() => relay.fake("research", "text" as never)).toThrow("neither a handler nor a script");
  });

  test("of one agent are its workers", async () => {
    const alice = await relay.connect("alice");
    const [one, two] = [1, 2].map(() => relay.fake("research", hang, { agent: "pair", concurrency: 1 }));
    await alice.send("research", { n: 1 });
    await alice.send("research", { n: 2 });
    await relay.settle();
    expect([one?.received.length, two?.received.length]).toEqual([1, 1]);
  });

  test("are named after their capability, and may be spoken of by that name", async () => {
    const [first, second, other] = ["research", "research", "shout"].map((name) => relay.fake(name, hang));
    expect([first?.agent, second?.agent, other?.agent]).toEqual(["research-1", "research-2", "shout-1"]);
    await relay.crash("research-2");
    expect([first?.isRunning, second?.isRunning]).toEqual([true, false]);
    await second?.restart();
    expect(second?.isRunning).toBe(true);
  });

  test("that stop in order give back what they cannot finish", async () => {
    const alice = await relay.connect("alice");
    let is_stuck = true;
    const worker = relay.fake("research", (input, ctx) => (is_stuck ? hang(input, ctx) : "done"));
    const handle = await alice.send("research", {});
    await handle.acknowledged();
    await relay.until(worker.stop());
    expect(await relay.handoff(handle)).toMatchObject({ state: "queued", attempts: 0 });
    is_stuck = false;
    await worker.restart();
    expect(await handle.result()).toBe("done");
  });
});

describe("clients", () => {
  test("of code that connects by itself live in the same time", async () => {
    relay.fake("research", () => "done");
    const mine = await connect(relay.connectOptions("mine"));
    const handle = await mine.send("research", {});
    expect(await handle.result()).toBe("done");
    relay.disconnect("mine");
    const sending = relay.until(mine.send("research", {}));
    await relay.reconnect("mine");
    expect(await (await sending).result()).toBe("done");
    await mine.close();
  });

  test("over HTTP behave as those over a WebSocket", async () => {
    const alice = await relay.connect("alice", { transport: "http" });
    relay.fake("research", [fail("busy"), "done"]);
    const handle = await alice.send("research", {});
    expect(await relay.until(handle.result())).toBe("done");
    relay.disconnect(alice);
    const again = alice.send("research", {});
    await relay.advance("2s");
    await relay.reconnect(alice);
    expect((await relay.until(again)).id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("with the operator's token see everything", async () => {
    const alice = await relay.connect("alice");
    relay.fake("research", fail("no", { retryable: false }));
    const handle = await alice.send("research", {});
    await expect(handle.result()).rejects.toThrow("no");
    const operator = await relay.connect("operator", { token: relay.operatorToken });
    expect(await operator.call("dead_letters")).toMatchObject({ dead_letters: [{ id: handle.id }] });
  });

  test("of other relays are refused by name", async () => {
    const other = await testRelay();
    const stranger = await other.connect("stranger");
    expect(() => relay.disconnect(stranger)).toThrow("not one of this test relay");
    expect(() => relay.disconnect("nobody")).toThrow("No agent nobody is connected yet");
    await other.stop();
  });
});

describe("the end", () => {
  const run = promisify(execFile);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "handfast-testing-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function inAProcess(code: string): Promise<string> {
    const kit = new URL("./mod.ts", import.meta.url).href;
    const path = join(folder, "program.ts");
    await writeFile(path, `import { hang, testRelay } from "${kit}";\n${code}`);
    const env = { ...process.env, HOME: folder, HANDFAST_HOME: join(folder, "home") };
    const { stdout } = await run(process.execPath, [path], { cwd: folder, env, timeout: 50_000 });
    return stdout;
  }

  test("a process with a stopped relay ends by itself, and nothing was written anywhere", async () => {
    const code = `
      const relay = await testRelay();
      const alice = await relay.connect("alice");
      relay.fake("research", hang);
      const handle = await alice.send("research", {});
      await handle.acknowledged();
      void handle.result();
      await relay.advance("1m");
      await relay.stop();
      console.log("stopped", process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name)).length);`;
    expect(await inAProcess(code)).toBe("stopped 0\n");
    expect(await readdir(folder)).toEqual(["program.ts"]);
  });

  test("a process that never stops its relay ends by itself, too", async () => {
    const code = `
      const relay = await testRelay();
      const alice = await relay.connect("alice");
      relay.fake("research", hang);
      await (await alice.send("research", {})).acknowledged();
      console.log("done");`;
    expect(await inAProcess(code)).toBe("done\n");
  });

  test("a handler that is still running is told when the relay stops", async () => {
    const world = await testRelay();
    const alice = await world.connect("alice");
    const reasons: string[] = [];
    world.fake("research", (_input, ctx) => {
      ctx.signal.addEventListener("abort", () => reasons.push(ctx.signal.reason.reason));
      return hang({} as never, ctx);
    });
    await (await alice.send("research", {})).acknowledged();
    await world.stop();
    await world.stop();
    expect(reasons).toEqual(["worker_stopping"]);
  });

  test("await using stops it", async () => {
    let stopped: TestRelay;
    {
      await using world = await testRelay();
      stopped = world;
    }
    await expect(stopped.handoff("019b76da-a800-7eca-8767-65da0ebc609d")).rejects.toThrow("was stopped");
  });
});

describe("without the relay's package", () => {
  const missing = (message: string, code: string) => Object.assign(new Error(message), { code });

  test("it is said what to install", async () => {
    const load = () =>
      Promise.reject(missing("Cannot find package '@handfast/relay' imported from x.ts", "ERR_MODULE_NOT_FOUND"));
    await expect(loadRelay(load)).rejects.toMatchObject({
      reason: "no_relay",
      remedy: "Install it beside the client: npm install --save-dev @handfast/relay",
    });
  });

  test("on a Node that is too old it is said which is needed", async () => {
    const load = () => Promise.reject(missing("No such built-in module: node:sqlite", "ERR_UNKNOWN_BUILTIN_MODULE"));
    await expect(loadRelay(load)).rejects.toThrow("needs Node 24 or newer");
  });

  test("any other fault stays what it is", async () => {
    const load = () => Promise.reject(new SyntaxError("unexpected token"));
    await expect(loadRelay(load)).rejects.toThrow(SyntaxError);
  });
});
