// Adds to package-lock.json the optional packages for other platforms that a registry did not offer when the lock was
// written: without them npm ci takes the lock for out of date. node scripts/complete-lock.ts
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Record<string, LockEntry>;
}

const file = new URL("../package-lock.json", import.meta.url);
const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

/** Optional packages that the lock speaks of but does not have, as `where` they belong and what is known of them. */
export function missingFrom({ packages }: Lock): ReadonlyMap<string, LockEntry> {
  const missing = new Map<string, LockEntry>();
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`;
      const hoisted = `node_modules/${name}`;
      if (packages[nested] !== undefined || packages[hoisted] !== undefined || !/^\d/.test(version)) continue;
      missing.set(hoisted, {
        version,
        ...(entry.dev === true ? { dev: true } : {}),
        optional: true,
        ...platformOf(name),
      });
    }
  }
  return missing;
}

function platformOf(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor)).slice(0, 1);
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return {
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(os.length > 0 ? { os } : {}),
    ...(libc.length > 0 ? { libc } : {}),
  };
}

if (import.meta.main) {
  const lock: Lock = JSON.parse(readFileSync(file, "utf8"));
  const packages = { ...lock.packages, ...Object.fromEntries(missingFrom(lock)) };
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
}
