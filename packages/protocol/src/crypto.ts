// The cryptography that callers inject: this package computes no hash or signature of its own, so it runs anywhere.

export interface Crypto {
  /** Synchronous; must not keep `bytes`, which may be overwritten after the call. */
  sha256(bytes: Uint8Array): Uint8Array;
  /** The same in lowercase hexadecimal, of bytes or of a text in UTF-8, where that can be had for less. */
  sha256Hex?(data: Uint8Array | string): string;
  /** Ed25519 (RFC 8032). False, never a throw, for a signature of the wrong length or one that does not verify. */
  verify(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

/** Signs with one Ed25519 key. The private key stays behind this interface, be it a file, a browser key or an HSM. */
export interface Signer {
  /** JWK thumbprint of the public key. */
  readonly key: string;
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}
