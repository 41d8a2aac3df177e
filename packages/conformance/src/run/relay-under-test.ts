/** The relay that is tried: where it is, what it says of itself, how agents come to be known to it. */

import type { AboutRelay } from "@handfast/protocol/wire";
import { Broken, shown } from "../broken.ts";
import { HttpLink } from "../caller/http-link.ts";
import { isReply, replyFault } from "../caller/reply-schemas.ts";
import { Caller } from "../stage/caller.ts";
import { Journal } from "../stage/journal.ts";
import { NoRelay, NotAdmitted } from "../untriable.ts";
import { Admission, type AdmissionOptions } from "./admission.ts";

export interface RelayUnderTest {
  readonly url: string;
  readonly about: AboutRelay;
  readonly audience: string;
  readonly websocketUrl: string;
  readonly operator_token: string | null;
  readonly admission: Admission;
}

/** Throws Unreached, NoRelay or NotAdmitted where there is none that can be tried. */
export async function meetRelay(url: string, operator_token: string | null, prefix: string): Promise<RelayUnderTest> {
  const base = url.replace(/\/+$/, "");
  const about = await askWhatItIs(base);
  const audience = about.public_urls[0] ?? base;
  const { namespace } = about;
  const admission = await beAdmitted({ url: base, audience, namespace, operator_token, host: `${prefix}-host` });
  return {
    url: base,
    about,
    audience,
    websocketUrl: `${base.replace(/^http/, "ws")}/v1/connect`,
    operator_token,
    admission,
  };
}

async function askWhatItIs(base: string): Promise<AboutRelay> {
  const anybody = new Caller({ name: "anybody", link: new HttpLink(base, () => null), journal: new Journal() });
  const question = `${base} is no Handfast relay: GET /.well-known/handfast`;
  const { status, body, text, bytes } = await anybody.call("well_known").catch((error: unknown) => {
    throw error instanceof Broken
      ? new NoRelay(`${question} was to bring ${error.expected}, and brought ${error.got}`)
      : error;
  });
  if (status === 200 && isReply("well_known", body)) return body;
  const said = shown(body ?? text ?? `${bytes?.length ?? 0} bytes`).replaceAll(/\s+/g, " ");
  const fault = status === 200 && body !== undefined ? ` (${replyFault("well_known", body)})` : "";
  throw new NoRelay(`${question} was answered with ${status} ${said.trim()}${fault}`);
}

async function beAdmitted(options: AdmissionOptions): Promise<Admission> {
  try {
    return await Admission.open(options);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    const isRefused = error.status === 401 || error.status === 403;
    const ofToken = options.operator_token === null ? "token_needed" : "token_refused";
    throw new NotAdmitted(isRefused ? ofToken : "registration_fails", `${options.url}: ${error.message}`);
  }
}
