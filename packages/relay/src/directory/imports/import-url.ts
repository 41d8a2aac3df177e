/** A URL that an agent may be imported from, and the origin that its name gets from it. */

import { Problem } from "../../problem.ts";

export function readImportUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw refused("is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused(`begins with ${url.protocol}`);
  if (url.username !== "" || url.password !== "") throw refused("has a name or a password in it");
  url.hash = "";
  return url;
}

function refused(why: string): Problem {
  const message = `The URL ${why}. Give an http or https URL without credentials.`;
  return new Problem(400, "import_url", message, { fields: ["/url"] });
}

/** Host and port, in lower case. */
export function originOf({ host }: URL): string {
  return host.toLowerCase();
}
