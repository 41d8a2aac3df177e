import { generateKeyPairSync, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { watchThreadPool } from "./node-thread-pool.ts";
import { Stir, turn } from "./settle.ts";

test("what is noted again and again is waited for", async () => {
  const stir = new Stir();
  let left = 100;
  const goOn = () => {
    stir.note();
    left -= 1;
    if (left > 0) setImmediate(goOn);
  };
  goOn();
  await stir.settle(() => false);
  expect(left).toBe(0);
});

test("a chain of promises is waited for although nobody notes it", async () => {
  const stir = new Stir();
  let done = false;
  const chain = async () => {
    for (let step = 0; step < 10_000; step += 1) await null;
    done = true;
  };
  void chain();
  await stir.settle(() => false);
  expect(done).toBe(true);
});

test("signatures on other threads are waited for, by node:crypto and by WebCrypto", async () => {
  const stir = new Stir();
  const pool = watchThreadPool(stir);
  const done: string[] = [];
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 4_096 });
  const key = await crypto.subtle.generateKey("Ed25519", false, ["sign"]);
  sign("sha256", new Uint8Array(1_000_000), privateKey, () => done.push("node"));
  if (!("privateKey" in key)) throw new Error("not a pair");
  void crypto.subtle.sign("Ed25519", key.privateKey, new Uint8Array(1_000_000)).then(() => done.push("web"));
  await stir.settle(() => pool.isBusy());
  pool.stop();
  expect(done.sort()).toEqual(["node", "web"]);
});

test("files that are being read are waited for", async () => {
  const stir = new Stir();
  const pool = watchThreadPool(stir);
  let text = "";
  void readFile(import.meta.filename, "utf8").then((read) => {
    text = read;
  });
  await stir.settle(() => pool.isBusy());
  pool.stop();
  expect(text).toContain("files that are being read");
});

test("what is done at once, without a callback, keeps nobody waiting", async () => {
  const stir = new Stir();
  const pool = watchThreadPool(stir);
  const { privateKey } = generateKeyPairSync("ed25519");
  sign(null, new Uint8Array(10), privateKey);
  await turn();
  expect(pool.isBusy()).toBe(false);
  pool.stop();
});
