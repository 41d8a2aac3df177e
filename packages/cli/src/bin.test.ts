import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bin } from "./testing/cli.ts";
import { version } from "./version.ts";

const run = promisify(execFile);

it("says in one line on an older Node what is needed and what this is, and ends with 78", async () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })';
  const preload = `data:text/javascript,${encodeURIComponent(older)}`;
  const ended = run(process.execPath, ["--import", preload, bin, "version"]);
  await expect(ended).rejects.toMatchObject({
    code: 78,
    stdout: "",
    stderr: "handfast needs Node 24 or newer, and this is Node 20.19.0: install one from https://nodejs.org\n",
  });
});

it("shows its version", async () => {
  expect((await run(process.execPath, [bin, "--version"])).stdout).toBe(`${version}\n`);
});

it("ends in peace when nobody reads on", async () => {
  const script = 'set -o pipefail; "$0" "$1" explain | true';
  expect((await run("bash", ["-c", script, process.execPath, bin])).stderr).toBe("");
});
