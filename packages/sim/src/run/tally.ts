/** Counts of what happened, by group and name. */

export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

export class Tally {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, name: string, count = 1): void {
    const counts = this.#groups.get(group) ?? new Map<string, number>();
    this.#groups.set(group, counts);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }

  addAll(counts: Counts): void {
    for (const [group, names] of Object.entries(counts)) {
      for (const [name, count] of Object.entries(names)) this.add(group, name, count);
    }
  }

  /** As plain data, to travel between threads. */
  counts(): Counts {
    return Object.fromEntries([...this.#groups].map(([group, names]) => [group, Object.fromEntries(names)]));
  }

  /** One line per group, the most frequent first. */
  lines(): readonly string[] {
    return [...this.#groups].map(([group, counts]) => {
      const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      return `${group}: ${sorted.map(([name, count]) => `${name} ${count}`).join(" · ")}`;
    });
  }
}
