/** The input of a handoff: words on the command line, `@file`, or stdin. */

import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { SendOptions } from "@handfast/client";
import { parseStrict } from "@handfast/protocol/client";
import { CliError } from "../errors.ts";
import { mediaTypeOf } from "./media-type.ts";

type SentFile = NonNullable<SendOptions["artifacts"]>[number];

export interface InputWords {
  /** As typed; undefined: none. */
  readonly word: string | undefined;
  /** Sent as it is, not as JSON. */
  readonly text: boolean;
  /** Files go along, so that nothing else is needed. */
  readonly files: boolean;
  readonly cwd: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
}

const howToGive = "Give it as JSON, as @file, with --text, or pipe it in.";
/** More is an artifact's business; the relay says its own limit. */
const input_bytes_most = 16_000_000;
const depth_most = 128;

export async function readInput(words: InputWords): Promise<unknown> {
  const { word, text, files } = words;
  if (word === undefined && files) return text ? "" : {};
  const [written, where] = await source(words);
  return text ? written : parseJson(written, where);
}

async function source({ word, text, cwd, stdin }: InputWords): Promise<[string, string]> {
  if (word?.startsWith("@")) return [asText(await readFile(resolve(cwd, word.slice(1))), word.slice(1)), word.slice(1)];
  if (word !== undefined && word !== "-") return [word, "The input"];
  if (word === undefined && stdin.isTTY === true) {
    throw new CliError("usage", "There is no input.", howToGive);
  }
  const piped = await readAll(stdin);
  if (piped.trim() === "" && !text) throw new CliError("usage", "There is no input: nothing came on stdin.", howToGive);
  return [piped, "What came on stdin"];
}

async function readAll(stdin: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > input_bytes_most) {
      throw new CliError(
        "data",
        "The input on stdin is larger than 16 MB.",
        "Send large data with --file.",
        "too_large",
      );
    }
    parts.push(bytes);
  }
  return asText(Buffer.concat(parts), "What came on stdin");
}

/** What is not text would reach the other side as something else. */
function asText(bytes: Buffer, where: string): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw new CliError("data", `${where} is not UTF-8 text.`, "Send bytes with --file.", "not_utf8");
}

/** `or`: what else can be done than to quote it. */
export function parseJson(text: string, where: string, or = "or send it as plain text with --text."): unknown {
  const parsed = parseStrict(text, { max_depth: depth_most });
  if (parsed.ok) return parsed.value;
  const { reason, path } = parsed.fault;
  const place = path === "" ? "" : ` at ${path}`;
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new CliError(
    "data",
    `${where} is not JSON (${reason.replaceAll("_", " ")}${place}): ${JSON.stringify(shown)}`,
    `Write strict JSON and quote it for the shell, such as '{"query": "fsync"}', ${or}`,
  );
}

export async function readFiles(paths: readonly string[], cwd: string): Promise<readonly SentFile[]> {
  return Promise.all(
    paths.map(async (path) => ({
      bytes: await readFile(resolve(cwd, path)),
      mediaType: mediaTypeOf(path),
      name: basename(path),
    })),
  );
}
