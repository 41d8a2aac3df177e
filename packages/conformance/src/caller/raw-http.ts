/** Requests that `fetch` would not send: foreign hosts, upgrades, bytes that are no JSON. */

import { request } from "node:http";
import { request as requestTls } from "node:https";
import { Unreached } from "../broken.ts";
import { answer_within_ms } from "./link.ts";

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As JSON; undefined: it is none. */
  readonly body: unknown;
}

export function rawRequest(url: string, { method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const target = new URL(url);
  const send = target.protocol === "https:" ? requestTls : request;
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const sent = send(new URL(path, target), { method, headers, timeout: answer_within_ms });
  sent.on("response", (response) => {
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => pieces.push(piece));
    response.on("end", () => {
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: jsonOf(Buffer.concat(pieces).toString()),
      });
    });
    response.on("error", (error) =>
      reject(new Unreached(`the answer to ${method} ${path} broke off: ${error.message}`)),
    );
  });
  // Taken although it should not have been: the answer is that it was.
  sent.on("upgrade", ({ statusCode = 0, headers: got }, socket) => {
    socket.destroy();
    resolve({ status: statusCode, headers: got, body: undefined });
  });
  sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
  sent.on("error", (error) => reject(new Unreached(`${method} ${path}: ${error.message}`)));
  sent.end(body);
  return promise;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
