/**
 * How a connection to the server begins. Where whoever is there hangs up before a word (a balancer with no server behind it), the client would
 * come again at once, hundreds of times a second, and tell nobody. Here the second time is a failure, which is told, and after
 * which the client leaves longer and longer pauses. Whoever answers as something else (a web server) is told at once: the client would wait
 * for the rest of a message that is none, and come again at once where there is none.
 */

import { Socket } from "node:net";

/** Of the client's options, what says where the server is. */
interface Whereabouts {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a socket in the file system; anything else: there is none. */
  readonly path: unknown;
  /** What the server is to be encrypted by; false: it is not. */
  readonly ssl: unknown;
}

/** A server begins with one of these, unencrypted: it asks who is there, refuses, or has a notice, a setting or another version to tell. */
const first_letters: ReadonlySet<number> = new Set(Buffer.from("RENSv"));

/**
 * One for all connections of a client, which connects but once if it has only one: it would come again on its own where whoever is there
 * hangs up after its first words, encrypted or not. Writes to a socket that is not connected yet wait in it.
 */
export function makeSockets(connections: number): (where: Whereabouts) => Socket {
  let made = 0;
  let hung_up = false;
  return ({ host: [host = "localhost"], port: [port = 0], path, ssl }) => {
    made += 1;
    // The client names a server for TLS by what stands on its socket. Statements that follow each other do not wait for each other's receipt.
    const socket = Object.assign(new Socket(), { host, port }).setNoDelay(true);
    socket.once("close", (has_failed) => {
      hung_up = !has_failed && socket.bytesRead === 0;
    });
    if (ssl === false) {
      socket.once("data", ([letter = 0]: Buffer) => {
        if (!first_letters.has(letter)) socket.destroy(notPostgres());
      });
    }
    // By then the client listens to it.
    if (hung_up || (connections === 1 && made > 1)) setImmediate(() => socket.destroy(hangingUp()));
    else if (typeof path === "string") socket.connect(path);
    else socket.connect(port, host);
    return socket;
  };
}

function hangingUp(): Error {
  return Object.assign(new Error("whoever is there hangs up"), { code: "CONNECTION_CLOSED" });
}

function notPostgres(): Error {
  return Object.assign(new Error("whoever is there does not speak as PostgreSQL"), { code: "NOT_POSTGRES" });
}
