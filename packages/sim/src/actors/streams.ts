/** What holders stream while they work: under each fence a text of its own. */

export class Streams {
  /** The same in every repetition, another under every fence. */
  textOf(id: string, fence: number, worker: string): string {
    return `${id} ${fence} ${worker} `.repeat(4);
  }

  readonly #written = new Map<string, string>();

  /** A holder is about to write this much of its text. */
  writes(id: string, fence: number, text: string): void {
    const name = `${id} ${fence}`;
    const before = this.#written.get(name) ?? "";
    if (text.length > before.length) this.#written.set(name, text);
  }

  has(id: string, fence: number, offset: number, text: string): boolean {
    const written = this.#written.get(`${id} ${fence}`) ?? "";
    return written.slice(offset, offset + text.length) === text;
  }
}
