/**
 * What is left to chance, as a row of bytes. Everything that is drawn from it follows from the bytes, and smaller bytes
 * or fewer of them make smaller things: so whatever shrinks the row shrinks what was made of it.
 */
export class Tape {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Another one, as long as asked for, that follows from this one in a way nobody can see through. */
  scrambled(length: number): Tape {
    // sfc32 on a sum (FNV) of the bytes.
    let sum = 0x811c9dc5;
    for (const byte of this.bytes) sum = Math.imul(sum ^ byte, 0x01000193);
    let [a, b, c, counter] = [sum, ~sum, 0x9e3779b9, 1];
    const next = () => {
      const value = (a + b + counter++) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + value) | 0;
      return value >>> 24;
    };
    for (let n = 0; n < 12; n++) next();
    return new Tape(Uint8Array.from({ length }, next));
  }

  /** A whole number below this; 0 at the end of the tape. */
  below(count: number): number {
    const byte = this.bytes[this.at] ?? 0;
    this.at++;
    return byte % count;
  }

  /** One time in so many; never at the end of the tape. */
  once(in_times: number): boolean {
    return this.below(in_times) === in_times - 1;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("there is nothing to pick from");
    return item;
  }

  /** Some of them, in their order. */
  some<Item>(items: readonly Item[]): readonly Item[] {
    return items.filter(() => this.below(3) === 1);
  }

  list<Item>(most: number, make: () => Item): readonly Item[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  /** In [0, 1), as Math.random. */
  fraction(): number {
    return (this.below(256) * 256 + this.below(256)) / 65_536;
  }
}
