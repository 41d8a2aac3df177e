// Records the demo as an animated SVG for the README: node scripts/record-demo.ts
// What is drawn is what the command wrote, when it wrote it; only pauses longer than a second are shortened, and lines that
// came at once come a moment apart, so that they can be read.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Piece {
  readonly at_ms: number;
  readonly text: string;
}

interface Glyphs {
  readonly text: string;
  readonly style: string;
  readonly column: number;
  readonly at_ms: number;
}

const root = new URL("../", import.meta.url);
const target = new URL("docs/pictures/demo.svg", root);
const columns = 128;
const rows = 26;
const line_px = 18;
const char_px = 8.05;
const pad_px = 18;
const pause_most_ms = 1_000;
const line_least_ms = 90;
const hold_ms = 6_000;
/** Stands for the escape character, which has no place in a pattern. */
const escape_mark = "␛";

function record(): Promise<Piece[]> {
  const pieces: Piece[] = [{ at_ms: 0, text: "$ npx handfast demo\n" }];
  const began = performance.now();
  const child = spawn(process.execPath, [fileURLToPath(new URL("packages/cli/bin/handfast.js", root)), "demo"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, FORCE_COLOR: "1", NO_COLOR: "" },
  });
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => pieces.push({ at_ms: performance.now() - began, text }));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve(pieces) : reject(new Error(`the demo ended with ${code}`))));
  });
}

function atReadingSpeed(pieces: readonly Piece[]): Piece[] {
  const lines = pieces.flatMap(({ at_ms, text }) => text.split(/(?<=\n)/).map((line) => ({ at_ms, text: line })));
  let last_ms = 0;
  let shown_ms = 0;
  return lines.map(({ at_ms, text }, i) => {
    const least_ms = lines[i - 1]?.text.endsWith("\n") === true ? line_least_ms : 0;
    shown_ms += Math.min(pause_most_ms, Math.max(least_ms, at_ms - last_ms));
    last_ms = at_ms;
    return { at_ms: shown_ms, text };
  });
}

const styleNames: Readonly<Record<string, string>> = {
  "1": "b",
  "2": "d",
  "31": "r",
  "32": "g",
  "33": "y",
  "36": "c",
};

/** Lines of glyphs: the few colour codes become classes, long lines are cut. */
function layOut(pieces: readonly Piece[]): Glyphs[][] {
  const lines: Glyphs[][] = [[]];
  let style = "";
  let column = 0;
  for (const { at_ms, text } of pieces) {
    for (const part of text.replaceAll("\x1b", escape_mark).split(/(␛\[\d+m|\n)/)) {
      const code = /^␛\[(\d+)m$/.exec(part)?.[1];
      if (code !== undefined) style = styleNames[code] ?? "";
      else if (part === "\n") {
        lines.push([]);
        column = 0;
      } else if (part !== "") {
        lines.at(-1)?.push({ text: part.slice(0, columns - column), style, column, at_ms });
        column += part.length;
      }
    }
  }
  return lines.filter((line, i) => line.length > 0 || i < lines.length - 1);
}

function render(lines: readonly (readonly Glyphs[])[]): string {
  const end_ms = Math.max(...lines.flat().map(({ at_ms }) => at_ms)) + hold_ms;
  const percent = (ms: number) => ((100 * ms) / end_ms).toFixed(3);
  const moments = [...new Set(lines.flat().map(({ at_ms }) => Math.round(at_ms)))].sort((a, b) => a - b);
  const shows = moments.map((ms, i) => {
    const before = Math.max(0, ms - 1);
    return `@keyframes s${i}{0%,${percent(before)}%{opacity:0}${percent(ms)}%,100%{opacity:1}}.t${i}{animation:s${i} ${end_ms}ms steps(1,end) infinite}`;
  });
  const texts = lines.map((line, row) =>
    line
      .map(({ text, style, column, at_ms }) => {
        const x = (pad_px + column * char_px).toFixed(1);
        const y = pad_px + 30 + (row + 1) * line_px;
        const moment = moments.indexOf(Math.round(at_ms));
        return `<text x="${x}" y="${y}" class="t${moment} ${style}" textLength="${(text.length * char_px).toFixed(1)}">${escaped(text)}</text>`;
      })
      .join(""),
  );
  const width = Math.ceil(2 * pad_px + columns * char_px);
  const height = 2 * pad_px + 30 + rows * line_px;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>npx handfast demo</title>
<desc>A recording of a terminal: seven steps of the demo, each with the events that the relay logged.</desc>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dce2;white-space:pre}
.b{font-weight:700;fill:#fff}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}.c{fill:#79c0ff}
${shows.join("\n")}
${scrolling(lines, percent, end_ms)}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
<g fill="#30363d"><circle cx="24" cy="20" r="6"/><circle cx="44" cy="20" r="6"/><circle cx="64" cy="20" r="6"/></g>
<clipPath id="screen"><rect x="0" y="34" width="${width}" height="${height - 44}"/></clipPath>
<g clip-path="url(#screen)"><g class="scroll">
${texts.join("\n")}
</g></g>
</svg>
`;
}

/** Each line beyond the last row moves everything up by one. */
function scrolling(lines: readonly (readonly Glyphs[])[], percent: (ms: number) => string, end_ms: number): string {
  const frames = lines.flatMap((line, row) => {
    const at_ms = line[0]?.at_ms;
    if (at_ms === undefined || row < rows) return [];
    return [`${percent(at_ms)}%{transform:translateY(${-(row - rows + 1) * line_px}px)}`];
  });
  return `@keyframes up{0%{transform:none}${frames.join("")}}.scroll{animation:up ${end_ms}ms steps(1,end) infinite}
@media (prefers-reduced-motion: reduce){*{animation:none !important}}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

mkdirSync(new URL("./", target), { recursive: true });
writeFileSync(target, render(layOut(atReadingSpeed(await record()))));
