/** Key files and keys on Node, for tools that keep them: the door `@handfast/client/keys`. */

export { type AgentKey, checkPair, type PrivateJwk, privateJwk, readSecret } from "./identity/agent-key.ts";
export { nodeCrypto, nodeKey } from "./identity/node-crypto.ts";
export { developmentKeyPath, readKeyFile, writeKeyFile } from "./identity/node-key-files.ts";
