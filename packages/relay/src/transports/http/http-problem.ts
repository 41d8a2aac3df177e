/** Problems of HTTP itself, before or besides any operation. None repeats the address: it may hold anything. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { operations } from "../../operations/table.ts";
import { Problem } from "../../problem.ts";
import { answerEarly, type LingerLimits } from "./early-answer.ts";
import { HttpProblem, problemReply, rawProblemReply } from "./problem-reply.ts";

const places = operations.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Nothing is served under this address and method. */
export function notServed(url: string): Problem {
  const path = url.split("?", 1)[0] ?? "";
  const allow = [...new Set(places.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].join(", ");
  const next = "GET /v1/openapi.json lists the operations.";
  if (allow === "") return new Problem(404, "unknown_operation", `There is no operation under this address; ${next}`);
  return new HttpProblem(405, 404, "unknown_method", `Under this address there is ${allow}; ${next}`, { allow });
}

/** What the framework found at fault with a request; everything else is passed on. */
export function fromFramework(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !String(error.code).startsWith("FST_ERR_")) return error;
  switch (error.code) {
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new Problem(400, "bad_url", "The address cannot be read; check how it is percent-encoded.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Problem(400, "content_type", "The Content-Type is not a media type; JSON is application/json.", {
        fields: ["Content-Type"],
      });
    default: {
      const status = "statusCode" in error ? Number(error.statusCode) : 500;
      return status < 500 ? new Problem(400, "bad_request", "The request cannot be understood.") : error;
    }
  }
}

/** `Expect` with anything but 100-continue. */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse, limits: LingerLimits): void {
  const problem = new HttpProblem(417, 400, "expectation", "Of Expect, only 100-continue is known.");
  const { status, headers, document } = problemReply(problem);
  answerEarly(request, response, { status, headers, text: `${JSON.stringify(document)}\n` }, limits);
}

/** What is not even HTTP, too long, or too slow. While another answer is under way nothing can be said, only cut. */
export function refuseClient(error: Error & { readonly code?: string }, socket: Socket, is_answering: boolean): void {
  if (error.code === "ECONNRESET" || !socket.writable || is_answering) {
    socket.destroy();
    return;
  }
  const problem =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? new Problem(408, "request_timeout", "The request did not arrive in time.")
      : error.code === "HPE_HEADER_OVERFLOW"
        ? new Problem(413, "headers_too_large", "The headers are too large.")
        : new Problem(400, "not_http", "This is not a request that can be understood.");
  socket.end(rawProblemReply(problem));
}
