/** A caller with a token that does not give up: it asks again until the relay has given a definite answer. */

/** `Body` is what the caller expects of a good answer; a bad one has a problem there. */
export interface Reply<Body = Record<string, unknown>> {
  readonly status: number;
  readonly body: Body;
}

const pause_ms = 25;

export class Caller {
  readonly #url: string;
  readonly token: string;
  /** How often a call had to be made again. */
  repeats = 0;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
  }

  static async named(
    url: string,
    agent: string,
    capabilities: readonly { readonly name: string }[] = [],
  ): Promise<Caller> {
    const asked = { agent, capabilities };
    const { status, body } = await request<{ readonly token: string }>(`${url}/v1/tokens`, "POST", null, asked, 0);
    if (status >= 300) throw new Error(`no token: ${status} ${JSON.stringify(body)}`);
    return new Caller(url, body.token);
  }

  /** One that was given its token before. */
  static withToken(url: string, token: string): Caller {
    return new Caller(url, token);
  }

  post<Body = Record<string, unknown>>(path: string, body: unknown, wait_seconds = 0): Promise<Reply<Body>> {
    return this.#insist(() => request(this.#url + path, "POST", this.token, body, wait_seconds));
  }

  get<Body = Record<string, unknown>>(path: string, wait_seconds = 0): Promise<Reply<Body>> {
    return this.#insist(() => request(this.#url + path, "GET", this.token, undefined, wait_seconds));
  }

  /** Asked once; null: nobody answered. */
  async postOnce(path: string, body: unknown): Promise<Reply | null> {
    return request<Reply["body"]>(this.#url + path, "POST", this.token, body, 0).catch(() => null);
  }

  /** A broken connection and "I do not know" are no answers; whatever is asked is safe to ask again. */
  async #insist<Body>(ask: () => Promise<Reply<Body>>): Promise<Reply<Body>> {
    for (;;) {
      try {
        const reply = await ask();
        if (![429, 500, 503].includes(reply.status)) return reply;
      } catch {
        // The relay is away; it will come back.
      }
      this.repeats += 1;
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  }
}

async function request<Body>(
  url: string,
  method: string,
  token: string | null,
  body: unknown,
  wait_seconds: number,
): Promise<Reply<Body>> {
  const headers: Record<string, string> = {};
  if (token !== null) headers["authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (wait_seconds > 0) headers["prefer"] = `wait=${wait_seconds}`;
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}
