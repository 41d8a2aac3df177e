/** Whether an address is one of the public internet: not of this machine, its network, or kept for some other use. */

import { BlockList, isIP } from "node:net";

/** IANA's special-purpose registries (RFC 6890 and what was added since), multicast, and what embeds an IPv4 address. */
const special4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;
/** Of IPv6 only 2000::/3 is given out for the public; within it these are not. */
const special6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const special = new BlockList();
for (const [net, bits] of special4) special.addSubnet(net, bits, "ipv4");
for (const [net, bits] of special6) special.addSubnet(net, bits, "ipv6");
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      return global6.check(address, "ipv6") && !special.check(address, "ipv6");
    default:
      return false;
  }
}
