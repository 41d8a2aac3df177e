import { describe, expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

const reserved = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "::7f00:1",
  "64:ff9b::7f00:1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fec0::1",
  "ff02::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "not an address",
  "",
];

describe("an address is not of the public internet", () => {
  test.each(reserved)("%j", (address) => expect(isPublicAddress(address)).toBe(false));
});

describe("an address is of the public internet", () => {
  test.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "223.255.255.254", "2606:4700:4700::1111", "2a00:1450::1"])(
    "%j",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
});
