/**
 * Fetches a document from elsewhere without being led astray: bounded in size and time, no redirects, and only from public
 * addresses unless private ones are allowed. The name is resolved once, and the address that was checked is the one that is
 * connected to: a name that points elsewhere a moment later leads nowhere.
 */

import { lookup as resolveName } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Problem } from "../../problem.ts";
import { isPublicAddress } from "./public-address.ts";

/** As `fetch`, of what an import needs: the bytes of a reply that was 200. */
export type FetchForeign = (url: URL, signal: AbortSignal) => Promise<Uint8Array>;

export interface FetchForeignOptions {
  readonly allow_private: boolean;
  readonly max_bytes: number;
}

export function foreignFetcher({ allow_private, max_bytes }: FetchForeignOptions): FetchForeign {
  const mayReach = (address: string) => allow_private || isPublicAddress(address);
  return (url, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !mayReach(host)) return Promise.reject(privateAddress(url, host));
    const ask = url.protocol === "https:" ? requestSecure : requestPlain;
    const asked = ask(url, {
      signal,
      // A connection of its own: none is kept that was opened under another name.
      agent: false,
      lookup: guardedLookup(url, mayReach),
      headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "handfast" },
      maxHeaderSize: header_bytes,
    });
    checkPeer(asked, url, mayReach);
    asked.once("error", (error) =>
      reject(error.cause instanceof Problem ? error.cause : unreachable(url, error.message)),
    );
    asked.once("response", (response) => readBody(url, response, max_bytes).then(resolve, reject));
    asked.end();
    return promise;
  };
}

const header_bytes = 16_384;

/** Through a socket, whose errors have codes of their own. */
function carrying(problem: Problem): Error {
  return new Error(problem.message, { cause: problem });
}

/** All addresses of the name, if every one of them may be reached: a name with one that may not is a trap. */
function guardedLookup(url: URL, mayReach: (address: string) => boolean): LookupFunction {
  return (name, options, callback) => {
    resolveName(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const strange = found.find(({ address }) => !mayReach(address));
      const [first] = found;
      if (strange !== undefined) return callback(carrying(privateAddress(url, strange.address)), []);
      if (options.all === true) return callback(null, found);
      if (first === undefined) return callback(carrying(unreachable(url, "its name has no address")), []);
      callback(null, first.address, first.family);
    });
  };
}

/** What was connected to, whatever the name said. */
function checkPeer(asked: ClientRequest, url: URL, mayReach: (address: string) => boolean): void {
  asked.once("socket", (socket) => {
    socket.once("connect", () => {
      const address = socket.remoteAddress ?? "";
      if (!mayReach(address)) asked.destroy(carrying(privateAddress(url, address)));
    });
  });
}

async function readBody(url: URL, response: IncomingMessage, max_bytes: number): Promise<Uint8Array> {
  const { statusCode = 0, headers } = response;
  try {
    if (statusCode >= 300 && statusCode < 400) throw unreachable(url, "it redirects, which is not followed");
    if (statusCode !== 200) throw unreachable(url, `it answered ${statusCode}`);
    if ((headers["content-encoding"] ?? "identity") !== "identity") {
      throw unreachable(url, `it sent ${headers["content-encoding"]} though nobody asked for it`);
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > max_bytes) throw tooLarge(url, max_bytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } catch (error) {
    throw error instanceof Problem ? error : unreachable(url, error instanceof Error ? error.message : String(error));
  } finally {
    response.destroy();
  }
}

function privateAddress(url: URL, address: string): Problem {
  const next = "Give a public URL, or start the relay with --import-private.";
  const message = `${url.host} is at ${address}, which is not a public address, and is not fetched from. ${next}`;
  return new Problem(403, "import_address", message, { fields: ["/url"], address });
}

export function unreachable(url: URL, why: string): Problem {
  const message = `${url.href} could not be fetched: ${why}. Check the URL, or try again later.`;
  return new Problem(400, "import_unreachable", message, { fields: ["/url"] });
}

function tooLarge(url: URL, most: number): Problem {
  return new Problem(413, "import_too_large", `${url.href} has more than ${most} bytes, which is all that is read.`, {
    fields: ["/url"],
  });
}
