/**
 * How a connection to the server begins. Where whoever is there hangs up before a word (a balancer with no server behind it), the client would
 * come again at once, hundreds of times a second, and tell nobody. Here the second time is a failure, which is told, and after
 * which the client leaves longer and longer pauses.
 */

import { Socket } from "node:net";

/** Of the client's options, what says where the server is. */
interface Whereabouts {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a socket in the file system; anything else: there is none. */
  readonly path: unknown;
}

/** One for all connections of a client. Writes to a socket that is not connected yet wait in it. */
export function makeSockets(): (where: Whereabouts) => Socket {
  let hung_up = false;
  return ({ host: [host = "localhost"], port: [port = 0], path }) => {
    // The client names a server for TLS by what stands on its socket. Statements that follow each other do not wait for each other's receipt.
    const socket = Object.assign(new Socket(), { host, port }).setNoDelay(true);
    socket.once("close", (has_failed) => {
      hung_up = !has_failed && socket.bytesRead === 0;
    });
    // By then the client listens to it.
    if (hung_up) setImmediate(() => socket.destroy(hangingUp()));
    else if (typeof path === "string") socket.connect(path);
    else socket.connect(port, host);
    return socket;
  };
}

function hangingUp(): Error {
  return Object.assign(new Error("whoever is there hangs up before a word"), { code: "CONNECTION_CLOSED" });
}
