import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, connect, type HandoffError } from "@handfast/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Cli, type CliProcess } from "../testing/cli.ts";
import { isAlive } from "../testing/is-alive.ts";

/** Does what its input says. */
const program = `#!/bin/sh
input=$(cat)
case "$input" in
  '"complete"') echo '{"done": true}' ;;
  '"nothing"') ;;
  '"prose"') echo 'no JSON' ;;
  '"later"') echo 'not now' >&2; exit 75 ;;
  '"broken"') echo '45 % through' >&2; echo 'it broke' >&2; exit 3 ;;
  '"slow"') echo '45 % through' >&2; while :; do sleep 0.1; done ;;
  '"killed"') kill -KILL $$ ;;
  '"huge"') yes | head -c 1000000000 ;;
  '"wait"') trap '' TERM; echo "pid $$" >&2; while :; do sleep 0.1; done ;;
  '"env"') printf '["%s","%s","%s","%s","%s"]' "$HANDFAST_HANDOFF_ID" "$HANDFAST_ATTEMPT" "$HANDFAST_IDEMPOTENCY_KEY" "$HANDFAST_FROM" "$HANDFAST_AGENT" ;;
  '"resume"')
    if [ -n "$HANDFAST_CHECKPOINT" ]; then printf '{"resumed": %s}' "$HANDFAST_CHECKPOINT"
    else echo '{"checkpoint": {"page": 7}}' >&3; echo '{"progress": 0.5, "note": "half"}' >&3; exit 75; fi ;;
  '"files"') printf '"%s"' "$(cat "$HANDFAST_FILES"/*)" ;;
esac
`;

let relay: TestRelay;
let cli: Cli;
let worker: CliProcess;
let client: Client;
beforeAll(async () => {
  relay = await TestRelay.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url });
  await writeFile(join(cli.folder, "program.sh"), program);
  await chmod(join(cli.folder, "program.sh"), 0o755);
  worker = cli.spawn(["serve", "work", "--concurrency", "4", "--json", "--", "./program.sh"]);
  client = await connect({ url: relay.url, agent: "sender", home: join(cli.folder, "home") });
  await worker.said(/"event":"serving"/);
});
afterAll(async () => {
  await client.close();
  await cli.stop();
  await relay.stop();
});

const send = (input: string, options = {}) => client.send("work", input, { attempts: 2, ...options });
const failure = async (input: string): Promise<HandoffError> => {
  const handle = await send(input);
  return handle.result().then(
    (output) => Promise.reject(new Error(`it completed with ${JSON.stringify(output)}`)),
    (error: HandoffError) => error,
  );
};

describe("handfast serve", () => {
  it("completes with the JSON that a program wrote and exit 0; with null where it wrote nothing", async () => {
    expect(await (await send("complete")).result()).toEqual({ done: true });
    expect(await (await send("nothing")).result()).toBeNull();
  });

  it("fails with the exit code and stderr, and is not tried again", async () => {
    const handle = await send("broken");
    const view = await handle.outcome();
    expect(view).toMatchObject({ state: "failed", attempts: 1, outcome: { error: { reason: "exit_3" } } });
    expect(view.outcome?.error?.message).toBe("./program.sh exited with 3: 45 % through\nit broke");
  });

  it("shows lines of stderr as progress, and a percentage as how far it is", async () => {
    const handle = await send("slow");
    for await (const event of handle.events()) {
      if (event.type !== "progress" || !("fraction" in event)) continue;
      expect(event).toMatchObject({ fraction: 0.45, note: "through" });
      break;
    }
    expect(await handle.cancel()).toMatchObject({ state: "canceled" });
  });

  it("tries again after exit 75", async () => {
    const view = await (await send("later")).outcome();
    expect(view).toMatchObject({ state: "failed", attempts: 2 });
    expect(view.outcome?.error?.message).toContain("not now");
  });

  it("fails where the program was killed or did not write JSON", async () => {
    expect(await failure("killed")).toMatchObject({ reason: "killed_by_SIGKILL" });
    const error = await failure("prose");
    expect(error.reason).toBe("stdout_not_json");
    expect(error.message).toContain("serve with --text");
  });

  it("stops a program that writes a gigabyte, says so, and stays small", async () => {
    const error = await failure("huge");
    expect(error.reason).toBe("output_too_large");
    expect(error.message).toContain("more than 1.0 MB");
    expect(await residentBytes(worker.pid)).toBeLessThan(400_000_000);
  });

  it("kills a program that ignores SIGTERM when its handoff is canceled", async () => {
    const handle = await send("wait");
    const pid = await noteOf(handle, /^pid (\d+)$/);
    await handle.cancel();
    const [, took_ms] = await worker.said(new RegExp(`"event":"stopped","handoff":"${handle.id}".*"took_ms":(\\d+)`));
    expect(Number(took_ms)).toBeGreaterThan(0);
    expect(isAlive(pid)).toBe(false);
  });

  it("tells the program which handoff it is and for whom", async () => {
    const handle = await send("env", { idempotencyKey: "once" });
    expect(await handle.result()).toEqual([handle.id, "1", "once", "sender", "work-1"]);
  });

  it("keeps a checkpoint that the program wrote to file descriptor 3, for its next attempt", async () => {
    expect(await (await send("resume")).result()).toEqual({ resumed: { page: 7 } });
  });

  it("puts the files that came along into a folder for the program", async () => {
    const artifacts = [{ bytes: Buffer.from("from a file"), name: "../../note.txt" }];
    expect(await (await send("files", { artifacts })).result()).toBe("from a file");
  });

  it("passes stdout on as it comes with --stream, and ends in order when told to", async () => {
    const streaming = cli.spawn(["serve", "story", "--text", "--stream", "--", "sh", "-c", "printf once; cat"]);
    await streaming.said(/serving story/);
    const handle = await client.send("story", " upon a time", { text: true });
    expect(await handle.chunks().text()).toBe("once upon a time");
    expect(await handle.result()).toBe("once upon a time");
    expect(await streaming.stop()).toMatchObject({ code: 0, stderr: expect.stringMatching(/stopped\n$/) });
  });

  it("gives back, uncounted, what it cannot end within its grace", async () => {
    const leaving = cli.spawn(["serve", "leave", "--grace", "200ms", "--", "./program.sh"]);
    await leaving.said(/serving leave/);
    const handle = await client.send("leave", "slow", { attempts: 1 });
    await handle.acknowledged();
    expect((await leaving.stop()).code).toBe(0);
    expect(await handle.status()).toMatchObject({ state: "queued", attempts: 0, failures: [] });
    await handle.cancel();
  });

  it("fails text that is not text, instead of changing it", async () => {
    const bytes = cli.spawn(["serve", "bytes", "--text", "--", "sh", "-c", "printf '\\377\\376'"]);
    await bytes.said(/serving bytes/);
    const handle = await client.send("bytes", "", { text: true });
    await expect(handle.result()).rejects.toMatchObject({ code: 500, reason: "stdout_not_text" });
    await bytes.stop();
  });

  it("works on when nobody reads its messages any more", async () => {
    const alone = cli.spawn(["serve", "alone", "--text", "--", "cat"]);
    await alone.said(/serving alone/);
    alone.closeMessages();
    const handle = await client.send("alone", "still here", { text: true });
    expect(await handle.result()).toBe("still here");
    await alone.stop();
  });

  it("says when the relay goes away and when it is back", async () => {
    const own = await TestRelay.start();
    const steady = cli.spawn(["serve", "steady", "--text", "--url", own.url, "--", "cat"]);
    await steady.said(/serving steady/);
    await own.pause();
    await steady.said(/The relay at \S+ is away, trying again\./);
    await own.resume();
    await steady.said(/The relay at \S+ is back\./);
    await steady.stop();
    await own.stop();
  });

  it("waits for a relay that is not there yet, and says so", async () => {
    const own = await TestRelay.start();
    const { url } = own;
    await own.pause();
    const early = cli.spawn(["serve", "early", "--text", "--url", url, "--patience", "100ms", "--", "cat"]);
    await early.said(/The relay is away, trying again: No relay answered at .*\n.*handfast start/);
    await own.resume();
    await early.said(/serving early/);
    await early.stop();
    await own.stop();
  });

  it("ends the programs at the second signal, whatever they ignore", async () => {
    const deaf = cli.spawn(["serve", "deaf", "--", "./program.sh"]);
    await deaf.said(/serving deaf/);
    const pid = await noteOf(await client.send("deaf", "wait"), /^pid (\d+)$/);
    process.kill(deaf.pid, "SIGTERM");
    await deaf.said(/stopping/);
    expect((await deaf.stop("SIGTERM")).code).toBe(130);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("says before any work is taken that there is no such program", async () => {
    const { code, stderr } = await cli.run(["serve", "x", "--", "no-such-program"]);
    expect(code).toBe(66);
    expect(stderr).toContain("There is no program no-such-program");
  });
});

async function residentBytes(pid: number): Promise<number> {
  const [, pages] = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ");
  return Number(pages) * 4_096;
}

/** The number in the first progress note of that kind. */
async function noteOf(handle: Awaited<ReturnType<typeof send>>, pattern: RegExp): Promise<number> {
  for await (const event of handle.events()) {
    const note = event.type === "progress" && "note" in event ? event.note : null;
    const match = pattern.exec(note ?? "");
    if (match !== null) return Number(match[1]);
  }
  throw new Error(`it ended without a note like ${pattern}`);
}
