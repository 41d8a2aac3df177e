/** A relay's own figures, as it shows them to Prometheus. */

import { get } from "node:http";

export interface MetricsReading {
  /** Of all series of this name, or of those whose labels hold this text. */
  sum(name: string, labels?: string): number;
}

/** Each time over a connection of its own, so that none stays open that would be counted. */
export async function readMetrics(url: string): Promise<MetricsReading> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(`${url}/metrics`, { agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.once("error", reject);
    response.once("end", () => {
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`the relay does not show its metrics: ${response.statusCode}`));
    });
  }).once("error", reject);
  return parseMetrics(await promise);
}

export function parseMetrics(text: string): MetricsReading {
  const series = text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  return {
    sum: (name, labels = "") =>
      series.filter((one) => one.name === name && one.labels.includes(labels)).reduce((sum, one) => sum + one.value, 0),
  };
}
