/** Where in a JSON text each value stands, by its JSON pointer: a person looks for a line, not for a pointer. */

export interface Place {
  /** From 1 on. */
  readonly line: number;
  readonly column: number;
}

/** Of a member the place of its name. What is not there has the place of what would hold it. */
export class Places {
  readonly #text: string;
  readonly #offsets = new Map<string, number>();
  #at = 0;

  /** The text must be JSON, and its depth must have been limited: this recurses. */
  constructor(text: string) {
    this.#text = text;
    this.#value("", this.#blank());
  }

  of(pointer: string): Place {
    for (let path = pointer; ; path = path.slice(0, path.lastIndexOf("/"))) {
      const offset = this.#offsets.get(path);
      if (offset !== undefined || path === "") return placeAt(this.#text, offset ?? 0);
    }
  }

  #value(path: string, offset: number): void {
    this.#offsets.set(path, offset);
    const first = this.#text.charAt(this.#blank());
    if (first === "{") this.#members(path);
    else if (first === "[") this.#items(path);
    else if (first === '"') this.#string();
    else this.#skip(/[^\s,\]}]*/y);
  }

  #members(path: string): void {
    this.#at++;
    while (this.#text.charAt(this.#blank()) !== "}") {
      const offset = this.#at;
      const name = this.#string().replaceAll("~", "~0").replaceAll("/", "~1");
      this.#skip(/\s*:\s*/y);
      this.#value(`${path}/${name}`, offset);
      this.#skip(/\s*,?/y);
    }
    this.#at++;
  }

  #items(path: string): void {
    this.#at++;
    for (let index = 0; this.#text.charAt(this.#blank()) !== "]"; index++) {
      this.#value(`${path}/${index}`, this.#at);
      this.#skip(/\s*,?/y);
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    this.#skip(/"[^"\\]*(?:\\.[^"\\]*)*"/sy);
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #blank(): number {
    this.#skip(/\s*/y);
    return this.#at;
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }
}

export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const line_start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - line_start + 1 };
}
