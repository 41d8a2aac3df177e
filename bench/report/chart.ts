/** The comparison as a picture: an SVG of bars that reads in light and in dark, without anything from elsewhere. */

import type { Row } from "../row.ts";
import { type System, systems } from "../systems.ts";
import { count, titleOf } from "./table.ts";

interface Bar {
  readonly title: string;
  readonly value: number;
  readonly label: string;
  readonly kind: "ours" | "peer" | "bound";
}

interface Panel {
  readonly heading: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

const width = 860;
const left = 330;
const right = 90;
const bar_height = 20;
const step = 28;
const head_height = 58;
const gap = 26;
const margin = 18;

const style = `
  svg { color-scheme: light dark; }
  .paper { fill: #ffffff; } text { fill: #1f2328; font: 13px system-ui, sans-serif; }
  .heading { font-size: 16px; font-weight: 600; } .note, .value { fill: #59636e; }
  .ours { fill: #0969da; } .peer { fill: #afb8c1; } .bound { fill: none; stroke: #818b98; stroke-dasharray: 4 3; }
  .axis { stroke: #d1d9e0; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } text { fill: #e6edf3; } .note, .value { fill: #9198a1; }
    .ours { fill: #4493f8; } .peer { fill: #57606a; } .bound { stroke: #9198a1; } .axis { stroke: #3d444d; }
  }`;

export function chart(rows: readonly Row[], caption: string): string {
  const panels = panelsOf(rows).filter(({ bars }) => bars.length > 0);
  let y = margin;
  const drawn = panels.map((panel) => {
    const text = draw(panel, y);
    y += head_height + panel.bars.length * step + gap;
    return text;
  });
  const height = y + margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">
<title id="title">Durable handoffs of each system</title>
<desc id="desc">${escaped(spoken(panels, caption))}</desc>
<style>${style}
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
${drawn.join("\n")}
<text class="note" x="${margin}" y="${height - margin}">${escaped(caption)}</text>
</svg>
`;
}

/** What the bars show, for those who hear it. */
function spoken(panels: readonly Panel[], caption: string): string {
  const lines = panels.map(
    ({ heading, bars }) => `${heading}: ${bars.map(({ title, label }) => `${title} ${label}`).join(", ")}.`,
  );
  return [...lines, `${caption}.`].join(" ");
}

function panelsOf(rows: readonly Row[]): readonly Panel[] {
  const empty = rows.filter(({ store }) => store === "empty");
  const plain = empty.filter(({ disk }) => disk === "as it is");
  const slow = empty.filter(({ disk }) => disk === "slow");
  const rate = (value: number) => `${count(value)}/s`;
  const time = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  return [
    {
      heading: "Full durable handoffs per second, 256 at once",
      note: "longer is better; 1 KB in, 1 KB out, synced before each confirmation unless the name says otherwise",
      bars: barsOf(plain, 256, "per_second", rate),
    },
    {
      heading: "Time of one handoff, nothing else going on (p50)",
      note: "shorter is better; from the send to the answer at the sender",
      bars: barsOf(plain, 1, "p50_ms", time),
    },
    {
      heading: "Per second on a slow disk, 256 at once",
      note: "longer is better; every sync takes 10 ms longer, as on a slow cloud volume",
      bars: barsOf(slow, 256, "per_second", rate),
    },
  ];
}

function barsOf(
  rows: readonly Row[],
  concurrency: number,
  value: "per_second" | "p50_ms",
  label: (value: number) => string,
): readonly Bar[] {
  const bars = rows.flatMap((row) => {
    const figure = row.figures.find((one) => one.concurrency === concurrency);
    if (figure === undefined) return [];
    const title = titleOf({ ...row, disk: "as it is" });
    return [{ title, value: figure[value], label: label(figure[value]), kind: kindOf(row) }];
  });
  return bars.toSorted((a, b) => (value === "p50_ms" ? a.value - b.value : b.value - a.value));
}

/** What runs without a transport is no system to compare with, but a bound for those that are. */
function kindOf({ system }: Row): Bar["kind"] {
  const { group, start }: System = systems[system];
  return start === null ? "bound" : group === "ours" ? "ours" : "peer";
}

function draw({ heading, note, bars }: Panel, top: number): string {
  const longest = Math.max(...bars.map(({ value }) => value));
  const bottom = top + head_height + bars.length * step;
  const lines = bars.map(({ title, value, label, kind }, nth) => {
    const y = top + head_height + nth * step;
    const length = Math.max(1, Math.round((value / longest) * (width - left - right)));
    const middle = y + bar_height / 2 + 4;
    return [
      `<text x="${left - 10}" y="${middle}" text-anchor="end">${escaped(title)}</text>`,
      `<rect class="${kind}" x="${left}" y="${y}" width="${length}" height="${bar_height}" rx="3"/>`,
      `<text class="value" x="${left + length + 8}" y="${middle}">${escaped(label)}</text>`,
    ].join("\n");
  });
  return [
    `<text class="heading" x="${margin}" y="${top + 18}">${escaped(heading)}</text>`,
    `<text class="note" x="${margin}" y="${top + 38}">${escaped(note)}</text>`,
    `<line class="axis" x1="${left}" y1="${top + head_height - 6}" x2="${left}" y2="${bottom}"/>`,
    ...lines,
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
