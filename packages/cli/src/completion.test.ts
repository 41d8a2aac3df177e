import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { typed } from "./testing/typed.ts";

describe("completion", () => {
  it("of bash offers commands, sub-commands and options, but nothing after --", async () => {
    const { stdout: script } = await typed(["completion", "bash"]);
    const complete = (...words: string[]) => {
      const quoted = words.map((word) => `'${word}'`).join(" ");
      const ask = `COMP_WORDS=(handfast ${quoted}); COMP_CWORD=${words.length}; _handfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", `${script}\n${ask}`], { encoding: "utf8", cwd: "/" })
        .trim()
        .split("\n");
    };
    expect(complete("se")).toEqual(["serve", "send"]);
    expect(complete("keys", "r")).toEqual(["rotate"]);
    expect(complete("--json", "dead", "")).toContain("redrive");
    expect(complete("send", "upper", "--idem")).toEqual(["--idempotency-key"]);
    expect(complete("completion", "f")).toEqual(["fish"]);
    expect(complete("serve", "upper", "--", "--js")).toEqual([""]);
  });

  it("of zsh and fish names every command", async () => {
    expect((await typed(["completion", "zsh"])).stdout).toMatch(/^#compdef handfast\n/);
    expect((await typed(["completion", "fish"])).stdout).toContain("-a doctor -d 'Looks for what is wrong");
  });
});
