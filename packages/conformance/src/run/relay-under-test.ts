/** The relay that is tried: where it is, what it says of itself, how agents come to be known to it. */

import type { AboutRelay } from "@handfast/protocol/wire";
import { HttpLink } from "../caller/http-link.ts";
import { Caller } from "../stage/caller.ts";
import { Journal } from "../stage/journal.ts";
import { Admission } from "./admission.ts";

export interface RelayUnderTest {
  readonly url: string;
  readonly about: AboutRelay;
  readonly audience: string;
  readonly websocketUrl: string;
  readonly operator_token: string | null;
  readonly admission: Admission;
}

/** Throws Broken or Unreached where there is no relay, or none that tells what it is. */
export async function meetRelay(url: string, operator_token: string | null, prefix: string): Promise<RelayUnderTest> {
  const base = url.replace(/\/+$/, "");
  const anybody = new Caller({ name: "anybody", link: new HttpLink(base, () => null), journal: new Journal() });
  const about = await anybody.ok("well_known", {}, 200);
  const audience = about.public_urls[0] ?? base;
  const { namespace } = about;
  const admission = await Admission.open({ url: base, audience, namespace, operator_token, host: `${prefix}-host` });
  return {
    url: base,
    about,
    audience,
    websocketUrl: `${base.replace(/^http/, "ws")}/v1/connect`,
    operator_token,
    admission,
  };
}
