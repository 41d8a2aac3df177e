/** Node's part of the platform: environment, home folder, key files, node:crypto. */

import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { nodeCrypto, nodeKey } from "./identity/node-crypto.ts";
import { developmentKeyPath, readKeyFile, writeKeyFile } from "./identity/node-key-files.ts";
import type { Platform } from "./platform.ts";

export function nodePlatform(): Platform {
  return {
    crypto: nodeCrypto,
    environment: process.env,
    home: join(homedir(), ".handfast"),
    user: userName(),
    keyOf: nodeKey,
    files: { read: readKeyFile, write: writeKeyFile, developmentKeyPath },
  };
}

/** In a container the user may have a number and no name. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
