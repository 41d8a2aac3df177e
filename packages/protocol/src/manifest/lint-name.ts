// Names are ASCII, so that no two of them look alike. Of one that is not, this says which character is strange, and what to write.

import { isName } from "../ids.ts";
import { type Report, shown } from "./finding.ts";

const most_chars = 128;

/** Letters of other scripts that are taken for Latin ones, and these: Cyrillic, then Greek. */
const foreign = [..."авсԁеһіјкӏмнорѕтухАВСЕНІЈКМОРЅТУХαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧøØłŁđĐı"];
const latin = [..."abcdehijklmhopstyxABCEHIJKMOPSTYXaeikvoptuxABEZHIKMNOPTYXoOlLdDi"];
const lookalikes = new Map(foreign.map((letter, index) => [letter, latin[index] ?? letter]));

export function lintName(report: Report, path: string, value: string): void {
  const is_name: boolean = isName(value);
  if (is_name) return;
  const fault = (message: string, remedy: string) => report("fault", "name", path, message, remedy);
  const rule =
    "Names have 1 to 128 letters (A–Z, a–z), digits, dots, dashes and underscores, and begin with a letter or digit.";
  if (value === "") return fault("is empty.", rule);
  const inAscii = asciiName(value);
  const next = inAscii === null ? rule : `Write ${shown(inAscii)}. ${rule}`;
  if (value.length > most_chars)
    return fault(`has ${value.length} characters; at most ${most_chars} are allowed.`, next);
  const at = [...value].findIndex((character) => !/^[A-Za-z0-9._-]$/.test(character));
  const character = [...value][at];
  if (character === undefined) return fault(`${shown(value)} begins with ${shown(value[0])}.`, next);
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const like = lookalikes.get(character);
  const looks = like === undefined ? "" : `, which looks like ${shown(like)} and is another letter`;
  fault(`${shown(value)} has ${shown(character)} (U+${code}) as character ${at + 1}${looks}.`, next);
}

/** The nearest name in ASCII; null: nothing of it is left. */
function asciiName(value: string): string | null {
  const letters = [...value].map((character) => lookalikes.get(character) ?? character).join("");
  const plain = letters.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const name = plain
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[^A-Za-z0-9]+/, "")
    .replace(/_+$/, "")
    .slice(0, most_chars);
  return isName(name) ? name : null;
}
