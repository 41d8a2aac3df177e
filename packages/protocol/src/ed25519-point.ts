// Whether 32 bytes are a sound Ed25519 public key: canonical, on the curve, in the prime-order group, not the identity.
// Verifiers disagree about signatures under other keys, and under a small-order key one signature fits many messages.
// Nothing here is secret, so BigInt and its uneven timing are fine; about a millisecond, once per key.

const p = 2n ** 255n - 19n;
const group_order = 2n ** 252n + 27742317777372353535851937790883648493n;
const d = mod(-121665n * power(121666n, p - 2n));
const sqrt_minus_one = power(2n, (p - 1n) / 4n);

interface Affine {
  x: bigint;
  y: bigint;
}

/** Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
interface Extended {
  X: bigint;
  Y: bigint;
  Z: bigint;
  T: bigint;
}

export function isStrongPoint(bytes: Uint8Array): boolean {
  const point = decode(bytes);
  if (point === null || isIdentity(extend(point))) return false;
  return isIdentity(multiply(group_order, extend(point)));
}

/** RFC 8032, 5.1.3, with its canonical form demanded: y below p, and no "negative zero" x. */
function decode(bytes: Uint8Array): Affine | null {
  if (bytes.length !== 32) return null;
  let encoded = 0n;
  for (const byte of bytes.toReversed()) encoded = (encoded << 8n) | BigInt(byte);
  const sign = encoded >> 255n;
  const y = encoded & (2n ** 255n - 1n);
  if (y >= p) return null;
  const root = squareRootOfRatio(mod(y * y - 1n), mod(d * y * y + 1n));
  if (root === null || (root === 0n && sign === 1n)) return null;
  return { x: (root & 1n) === sign ? root : p - root, y };
}

/** The square root of u/v modulo p, or null when there is none. */
function squareRootOfRatio(u: bigint, v: bigint): bigint | null {
  const v3 = mod(v * v * v);
  const candidate = mod(u * v3 * power(mod(u * v3 * v3 * v), (p - 5n) / 8n));
  const check = mod(v * candidate * candidate);
  if (check === u) return candidate;
  return check === mod(-u) ? mod(candidate * sqrt_minus_one) : null;
}

function extend({ x, y }: Affine): Extended {
  return { X: x, Y: y, Z: 1n, T: mod(x * y) };
}

function isIdentity({ X, Y, Z }: Extended): boolean {
  return X === 0n && Y === Z;
}

/** The complete addition law for a = -1: it also doubles, and has no exceptions on this curve. */
function add(a: Extended, b: Extended): Extended {
  const A = mod((a.Y - a.X) * (b.Y - b.X));
  const B = mod((a.Y + a.X) * (b.Y + b.X));
  const C = mod(2n * d * a.T * b.T);
  const D = mod(2n * a.Z * b.Z);
  const [E, F, G, H] = [B - A, D - C, D + C, B + A];
  return { X: mod(E * F), Y: mod(G * H), Z: mod(F * G), T: mod(E * H) };
}

function multiply(scalar: bigint, point: Extended): Extended {
  let sum: Extended = { X: 0n, Y: 1n, Z: 1n, T: 0n };
  let doubled = point;
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) sum = add(sum, doubled);
    doubled = add(doubled, doubled);
  }
  return sum;
}

function mod(value: bigint): bigint {
  const rest = value % p;
  return rest < 0n ? rest + p : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let squared = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = mod(result * squared);
    squared = mod(squared * squared);
  }
  return result;
}
