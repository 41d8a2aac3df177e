/** The standard fetch of a client whose relay is in the same process. */

import type { NetworkEnd } from "./network.ts";

/** `answer` is the relay; it rejects where that is not running. */
export function memoryFetch(end: NetworkEnd, answer: (request: Request) => Promise<Response>): typeof fetch {
  return (input, init) => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    if (end.isCut) {
      end.notice(() => reject(broken()));
      return promise;
    }
    const cut = new AbortController();
    const given = new Request(input, init);
    const request = new Request(given, { signal: AbortSignal.any([given.signal, cut.signal]) });
    const gone = () => reject(given.signal.reason);
    given.signal.addEventListener("abort", gone);
    if (given.signal.aborted) gone();
    const done = end.add({
      tear: (client_is_gone) => {
        cut.abort(broken());
        if (!client_is_gone) end.notice(() => reject(broken()));
      },
    });
    const back = (arrive: () => void) =>
      end.carry("to_client", () => {
        done();
        arrive();
      });
    end.carry("to_relay", () => {
      answer(request).then(
        (response) => back(() => resolve(response)),
        () => back(() => reject(broken())),
      );
    });
    return promise;
  };
}

/** As Node's own fetch says it. */
function broken(): TypeError {
  return new TypeError("fetch failed", { cause: new Error("the connection to the relay was lost or refused") });
}
