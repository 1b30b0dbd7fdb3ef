import { expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { openFileLock } from "../../src/platform/files/file-lock.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import type { EmbeddedFile, EmbeddedNative } from "../../src/platform/native/native-assets.ts"
import { inspectNative, type NativeCache, placeNative } from "../../src/platform/native/native-cache.ts"

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** A time that `utimes` can set to the nanosecond. */
const WRITTEN_S = 1_600_000_000

const ADDON_BYTES = Buffer.from("an addon ".repeat(1000))
const LIBRARY_BYTES = Buffer.from("a library ".repeat(500))

/** Two frames, so that the seam between them is crossed. */
function embedded(name: string, bytes: Uint8Array<ArrayBuffer>, assets: Map<string, Uint8Array>): EmbeddedFile {
  const frames = [bytes.subarray(0, 3000), bytes.subarray(3000)].map((frame) => Bun.zstdCompressSync(frame))
  assets.set(name, Buffer.concat(frames))
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
  return { name, bytes: bytes.length, sha256, asset: name, frames: frames.map((frame) => frame.length) }
}

interface Place extends Disposable {
  readonly cache: NativeCache
  readonly native: EmbeddedNative
  readonly assets: Map<string, Uint8Array>
  readonly addonPath: string
  /** How often compressed bytes were asked for since the last time. */
  unpacked(): string[]
}

function place(): Place {
  const root = mkdtempSync(join(tmpdir(), "pond-native-"))
  const assets = new Map<string, Uint8Array>()
  const native: EmbeddedNative = {
    origin: "addon@1.0.0",
    contentHash: "abc123",
    addon: embedded("addon.node", ADDON_BYTES, assets),
    beside: [embedded("library.so", LIBRARY_BYTES, assets)],
    isWebAssembly: false,
  }
  let asked: string[] = []
  const cache: NativeCache = {
    directory: join(root, "pond/native"),
    contentHashes: [native.contentHash],
    clock: { nowMs: () => Date.now(), monotonicMs: () => 0 },
    random: systemRandom,
    readAsset: (asset) => {
      asked.push(asset)
      return assets.get(asset) ?? new Uint8Array()
    },
  }
  return {
    cache,
    native,
    assets,
    addonPath: join(cache.directory, native.contentHash, "addon.node"),
    unpacked: () => {
      const since = asked
      asked = []
      return since.sort()
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

function failureOf(run: () => unknown): PondError {
  try {
    run()
  } catch (error) {
    if (error instanceof PondError) return error
    throw error
  }
  throw new Error("nothing failed")
}

test("a library is unpacked once, whole, for this user alone", () => {
  using made = place()
  expect(placeNative(made.cache, made.native)).toBe(made.addonPath)
  expect(made.unpacked()).toEqual(["addon.node", "library.so"])
  expect(readFileSync(made.addonPath).equals(ADDON_BYTES)).toBe(true)
  expect(readFileSync(join(made.addonPath, "../library.so")).equals(LIBRARY_BYTES)).toBe(true)
  expect(statSync(join(made.addonPath, "..")).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(made.addonPath, "..")).filter((name) => name.endsWith(".draft"))).toEqual([])
  expect(placeNative(made.cache, made.native)).toBe(made.addonPath)
  expect(made.unpacked()).toEqual([])
  expect(inspectNative(made.cache, made.native)).toBe("ready")
})

const DAMAGES: readonly (readonly [how: string, damage: (path: string) => void])[] = [
  ["is truncated", (path) => truncateSync(path, 100)],
  ["is gone", (path) => rmSync(path)],
  ["has other bytes of the same length", (path) => writeFileSync(path, Buffer.alloc(ADDON_BYTES.length))],
  [
    "has other bytes, the same length and its old times",
    (path) => {
      writeFileSync(path, Buffer.alloc(ADDON_BYTES.length))
      utimesSync(path, WRITTEN_S, WRITTEN_S)
    },
  ],
]

for (const [how, damage] of DAMAGES) {
  test(`a library that ${how} is unpacked again, and only that`, () => {
    using made = place()
    placeNative(made.cache, made.native)
    chmodSync(made.addonPath, 0o700)
    utimesSync(made.addonPath, WRITTEN_S, WRITTEN_S)
    placeNative(made.cache, made.native)
    made.unpacked()
    damage(made.addonPath)
    expect(inspectNative(made.cache, made.native)).toBe("damaged")
    placeNative(made.cache, made.native)
    expect(made.unpacked()).toEqual(["addon.node"])
    expect(readFileSync(made.addonPath).equals(ADDON_BYTES)).toBe(true)
    expect(inspectNative(made.cache, made.native)).toBe("ready")
  })
}

test("who finds another process unpacking waits for it, and then uses what that one made", () => {
  using made = place()
  mkdirSync(made.cache.directory, { recursive: true, mode: 0o700 })
  const other = openFileLock(join(made.cache.directory, "unpack.lock"))
  expect(other.take()).toBe(true)
  let asked = 0
  /** Each look at the clock is one turn of waiting; at the third the other process is done. */
  const monotonicMs = () => {
    asked += 1
    if (asked === 3) {
      other.giveBack()
      other.close()
      placeNative(made.cache, made.native)
      made.unpacked()
    }
    return 0
  }
  placeNative({ ...made.cache, clock: { ...made.cache.clock, monotonicMs } }, made.native)
  expect(asked).toBeGreaterThanOrEqual(3)
  expect(made.unpacked()).toEqual([])
  expect(inspectNative(made.cache, made.native)).toBe("ready")
})

test("who waited too long unpacks for itself", () => {
  using made = place()
  mkdirSync(made.cache.directory, { recursive: true, mode: 0o700 })
  const other = openFileLock(join(made.cache.directory, "unpack.lock"))
  expect(other.take()).toBe(true)
  let now = 0
  const clock = { ...made.cache.clock, monotonicMs: () => (now += 20_000) }
  placeNative({ ...made.cache, clock }, made.native)
  expect(made.unpacked()).toEqual(["addon.node", "library.so"])
  other.close()
})

test("a library that was only touched is hashed, found whole and stamped anew", () => {
  using made = place()
  placeNative(made.cache, made.native)
  made.unpacked()
  const stamp = readFileSync(`${made.addonPath}.stamp`, "utf8")
  utimesSync(made.addonPath, 1, 1)
  placeNative(made.cache, made.native)
  expect(made.unpacked()).toEqual([])
  expect(readFileSync(`${made.addonPath}.stamp`, "utf8")).not.toBe(stamp)
})

test("a library of which nothing is there is absent", () => {
  using made = place()
  expect(inspectNative(made.cache, made.native)).toBe("absent")
})

test("a cache that cannot be written is one error that names the place and the variable", () => {
  using made = place()
  mkdirSync(join(made.cache.directory, ".."), { recursive: true })
  writeFileSync(made.cache.directory, "a file in the way")
  const failure = failureOf(() => placeNative(made.cache, made.native))
  expect(failure.code).toBe("storage_unavailable")
  expect(failure.message).toContain(made.cache.directory)
  expect(failure.message).toContain("XDG_CACHE_HOME")
  expect(failure.message).not.toContain("\n")
})

test("a directory that others can write to is not loaded from", () => {
  using made = place()
  placeNative(made.cache, made.native)
  chmodSync(join(made.addonPath, ".."), 0o777)
  const failure = failureOf(() => placeNative(made.cache, made.native))
  expect(failure.code).toBe("storage_unavailable")
  expect(failure.message).toContain("another user can write there")
})

test("an executable whose own copy is damaged says so, and leaves nothing behind", () => {
  for (const bytes of [new Uint8Array(100), Bun.zstdCompressSync(Buffer.from("something else"))]) {
    using made = place()
    made.assets.set("addon.node", bytes)
    const failure = failureOf(() => placeNative(made.cache, made.native))
    expect(failure.code).toBe("internal")
    expect(failure.message).toContain("executable is damaged")
    expect(readdirSync(join(made.addonPath, "..")).filter((name) => name.startsWith("addon"))).toEqual([])
  }
})

test("what killed processes and older builds left is removed when it has grown old, and not before", () => {
  using made = place()
  const directory = join(made.addonPath, "..")
  const old = (path: string, ageMs: number) => utimesSync(path, new Date(), new Date(Date.now() - ageMs))
  for (const [name, ageMs] of [
    ["killed", 2 * HOUR_MS],
    ["running", 0],
  ] as const) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, `addon.node.${name}.draft`), "half")
    old(join(directory, `addon.node.${name}.draft`), ageMs)
  }
  for (const [name, ageMs] of [
    ["forgotten", 31 * DAY_MS],
    ["recent", 29 * DAY_MS],
  ] as const) {
    mkdirSync(join(made.cache.directory, name))
    writeFileSync(join(made.cache.directory, name, "addon.node"), "")
    old(join(made.cache.directory, name), ageMs)
  }
  placeNative(made.cache, made.native)
  expect(readdirSync(made.cache.directory).sort()).toEqual([made.native.contentHash, "recent", "unpack.lock"])
  expect(readdirSync(directory).filter((name) => name.endsWith(".draft"))).toEqual(["addon.node.running.draft"])
})

test("a library of this build stays, however old it is", () => {
  using made = place()
  const other = join(made.cache.directory, "other")
  mkdirSync(other, { recursive: true })
  utimesSync(other, 1, 1)
  placeNative({ ...made.cache, contentHashes: [made.native.contentHash, "other"] }, made.native)
  expect(existsSync(other)).toBe(true)
})
