import { describe, expect, it } from "vitest";
import { table } from "./table.ts";
import { bar, Terminal } from "./terminal.ts";
import { cleanText, cut, width } from "./text.ts";

function terminal(tty: boolean, json = false, columns = 20) {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    isTTY: tty,
    columns,
    write: (text: string | Uint8Array) => {
      written[name] += String(text);
      return true;
    },
  });
  return {
    written,
    terminal: new Terminal({ out: sink("out"), err: sink("err"), json, plain: true, debug: false, env: {} }),
  };
}

describe("the terminal", () => {
  it("replaces a live line, cuts it at the edge, and removes it before anything else is written", () => {
    const { terminal: shown, written } = terminal(true);
    shown.live("a line that is longer than the terminal");
    shown.note("done");
    expect(written.err).toBe("\r\u001b[2Ka line that is lon…\r\u001b[2Kdone\n");
  });

  it("writes nothing into JSON that a terminal would obey, and changes nothing by it", () => {
    const { terminal: shown, written } = terminal(true, true);
    const hostile = { text: "\u009b31m \u007f \u202e and \u001b[2J" };
    shown.jsonLine(hostile);
    expect(written.out).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(written.out)).toEqual(hostile);
  });

  it("shows no live lines and no next step where nobody looks", () => {
    const { terminal: shown, written } = terminal(false);
    shown.live("busy");
    shown.next("handfast show");
    expect(written).toEqual({ out: "", err: "" });
  });

  it("keeps stdout for JSON under --json: indented for people, one line for programs", () => {
    const { terminal: piped, written } = terminal(false, true);
    piped.print("words");
    piped.document({ a: [1] });
    expect(written.out).toBe('{"a":[1]}\n');
    const { terminal: shown, written: seen } = terminal(true, true);
    shown.document({ a: 1 });
    expect(seen.out).toBe('{\n  "a": 1\n}\n');
  });

  it("lets data of others steer no terminal, and leaves it alone in a pipe", () => {
    const evil = "\u001b]0;title\u0007\u001b[2Jtext\u202e\n";
    const { terminal: shown, written } = terminal(true);
    shown.raw(evil);
    expect(written.out).toBe("text\n");
    const { terminal: piped, written: exact } = terminal(false);
    piped.raw(evil);
    expect(exact.out).toBe(evil);
  });

  it("tells after a second, and not before, that something goes on", async () => {
    const { terminal: shown, written } = terminal(true, false, 80);
    await shown.busy("copying", Promise.resolve());
    expect(written.err).toBe("");
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = shown.busy("copying", promise, () => 0.5);
    await expect.poll(() => written.err, { timeout: 5_000 }).toContain("50 %");
    resolve();
    await waiting;
    expect(written.err.endsWith("\r\u001b[2K")).toBe(true);
  });
});

describe("text in cells", () => {
  it("counts wide letters as two and styles as none", () => {
    expect([width("abc"), width("日本"), width("\u001b[1mab\u001b[22m"), width("é")]).toEqual([3, 4, 2, 1]);
  });

  it("is cut by what is seen", () => {
    expect([cut("abcdef", 4), cut("日本語", 4), cut("abc", 3)]).toEqual(["abc…", "日…", "abc"]);
  });

  it("keeps line ends and tabs, and nothing else that is not text", () => {
    expect(cleanText("a\tb\nc\rd\u0000e")).toBe("a\tb\ncde");
  });

  it("stands in columns", () => {
    expect(
      table(
        [
          ["NAME", "N"],
          ["日本", "1"],
          ["x", "long text"],
        ],
        12,
      ),
    ).toEqual(["NAME  N", "日本  1", "x     long …"]);
  });

  it("shows a fraction as a bar", () => {
    expect(bar(0.5)).toBe("██████████░░░░░░░░░░  50 % ");
    expect([bar(null), bar(7).slice(-6)]).toEqual(["", "100 % "]);
  });
});
