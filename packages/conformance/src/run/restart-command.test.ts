import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath, kill } from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checks } from "../promises/all.ts";
import { selectChecks } from "../select.ts";
import { freePort } from "../testing/free-port.ts";
import { restartBy } from "./restart-command.ts";
import { runConformance } from "./run-conformance.ts";

const main = join(import.meta.dirname, "../../../relay/src/main.ts");

describe("a relay that a command of the user's restarts", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "handfast-restart-"));
  });
  afterEach(() => {
    const pid = Number(readFileSync(join(folder, "relay.pid"), "utf8"));
    if (pid > 0) kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  it("is killed and started in the middle of the checks that need it", async () => {
    const port = await freePort();
    writeFileSync(join(folder, "relay.pid"), "0");
    const script = join(folder, "restart.sh");
    // The script of docs/conformance.md, for the reference relay.
    writeFileSync(
      script,
      `cd "${folder}"
pid="$(cat relay.pid)"
[ "$pid" = 0 ] || kill -9 "$pid"
"${execPath}" "${main}" --dev --data ./data --port ${port} >relay.log 2>&1 &
echo $! >relay.pid
`,
    );
    const url = `http://127.0.0.1:${port}`;
    const restart = restartBy(`sh "${script}"`, url);
    await restart();
    const first = readFileSync(join(folder, "relay.pid"), "utf8");
    const target = { url, operator_token: null, restart, short_lived: null };
    const { tried } = await runConformance(target, { checks: selectChecks(checks, ["DURABLE-4"]) });
    expect(tried.map(({ verdict }) => verdict.outcome)).toEqual(["kept", "kept"]);
    expect(readFileSync(join(folder, "relay.pid"), "utf8")).not.toBe(first);
  });

  it("is not tried further where the command fails: its exit code and what it said are told", async () => {
    writeFileSync(join(folder, "relay.pid"), "0");
    const command = "echo no such relay >&2; sleep 60 & echo $! >relay.pid; exit 3";
    // What it leaves running, with its stderr, is not waited for.
    await expect(restartBy(`cd "${folder}"; ${command}`, "http://127.0.0.1:9")()).rejects.toThrow(
      /^the restart command ended with 3: .*\nno such relay$/,
    );
  });

  it("is not tried where a signal ended the command", async () => {
    writeFileSync(join(folder, "relay.pid"), "0");
    await expect(restartBy("kill -9 $$", "http://127.0.0.1:9")()).rejects.toThrow(/ended with SIGKILL/);
  });
});
