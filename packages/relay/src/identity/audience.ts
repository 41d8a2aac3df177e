/**
 * The public URLs by which this relay is meant: credentials and documents name one of them, so that neither works
 * anywhere else. Set once the relay listens, because a free port is only known then.
 */

export class Audience {
  private urls: readonly string[];
  private known: ReadonlySet<string>;
  private addresses: readonly string[];

  constructor(urls: readonly string[] = []) {
    this.urls = urls;
    this.known = new Set(urls.map(normalUrl));
    this.addresses = urls;
  }

  /** `listening`: where it can be reached on the machine itself, whatever stands before it. */
  set(urls: readonly string[], listening: readonly string[] = []): void {
    this.urls = urls;
    this.known = new Set(urls.map(normalUrl));
    this.addresses = [...urls, ...listening];
  }

  /** What a request may be sent to: the public URLs, and where it listens. Neither credentials nor documents may name the latter. */
  reachable(): readonly string[] {
    return this.addresses;
  }

  all(): readonly string[] {
    return this.urls;
  }

  includes(url: string): boolean {
    return this.known.has(normalUrl(url));
  }

  /** For messages: a mismatch names both sides. */
  toString(): string {
    return this.urls.join(" or ");
  }
}

/** One spelling per URL: host in lower case, no default port, no slash at the end. What is no URL stays as it is. */
export function normalUrl(text: string): string {
  const url = URL.parse(text);
  return url === null ? text : url.href.replace(/\/+$/, "");
}
