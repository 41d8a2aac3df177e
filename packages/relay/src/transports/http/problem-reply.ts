/** A problem as an HTTP response. */

import type { StatusCode } from "@handfast/protocol";
import { Problem } from "../../problem.ts";
import { problemDocument } from "../problem-document.ts";

export interface ProblemReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly document: Readonly<Record<string, unknown>>;
}

const problem_media_type = "application/problem+json";

/** HTTP has a status of its own for it; our code says what it comes to. */
export class HttpProblem extends Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: StatusCode, reason: string, message: string, headers = {}) {
    super(code, reason, message);
    this.status = status;
    this.headers = headers;
  }
}

export function problemReply(problem: Problem): ProblemReply {
  const own_status = problem instanceof HttpProblem ? problem.status : undefined;
  const { status, document, retry_after_seconds } = problemDocument(problem, own_status);
  return {
    status,
    headers: {
      "content-type": problem_media_type,
      "cache-control": "no-store",
      ...(retry_after_seconds === null ? {} : { "retry-after": String(retry_after_seconds) }),
      ...(problem instanceof HttpProblem ? problem.headers : {}),
      ...(problem.code === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
    document,
  };
}

/** The same as the bytes of a response, for a socket that no request was read from, or that is being upgraded. */
export function rawProblemReply(problem: Problem): string {
  const { status, headers, document } = problemReply(problem);
  const body = `${JSON.stringify(document)}\n`;
  const lines = Object.entries({ ...headers, connection: "close", "content-length": Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\r\n");
  return `HTTP/1.1 ${status} ${problem.reason}\r\n${head}\r\n\r\n${body}`;
}
