/**
 * Bundles for MCPB, which desktop clients install by a click: a zip with the executable of one machine and its manifest.
 * `mcpb pack` would do it too, but writes the time and the owner of the machine; its `validate` and `unpack` judge this one
 * (`bun run try-install`).
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { crc32, deflateRawSync } from "node:zlib"
import { bundleManifest } from "../plugins/plugin.ts"
import { type Entry, textEntry } from "./archive.ts"
import type { Release } from "./description.ts"
import { ROOT } from "./packages.ts"
import type { TargetName } from "./targets.ts"

export function bundleName({ name, version }: Release, target: TargetName): string {
  return `${name}-${version}-${target}.mcpb`
}

export function bundle(release: Release, os: "linux" | "darwin", executable: Uint8Array, level: number): Uint8Array {
  return zip(
    [
      textEntry("manifest.json", bundleManifest(release, os)),
      { path: "LICENSE", content: readFileSync(join(ROOT, "LICENSE")) },
      { path: "server/pond", content: executable, isExecutable: true },
    ],
    level,
  )
}

/** The first moment that a zip can name, so that the same files make the same bytes. */
const DATE_1980 = 0x21
/** Made by Unix, whose modes stand in the upper half of the attributes. */
const MADE_BY_UNIX = (3 << 8) | 20
const NEEDS_VERSION = 20
const UTF8_NAMES = 1 << 11
const DEFLATED = 8
const REGULAR_FILE = 0o100000

function zip(entries: readonly Entry[], level: number): Uint8Array {
  const files: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const { path, content, isExecutable } of entries) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(content, { level })
    // The fields that the header of the file and its row in the directory share.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(NEEDS_VERSION, 0)
    shared.writeUInt16LE(UTF8_NAMES, 2)
    shared.writeUInt16LE(DEFLATED, 4)
    shared.writeUInt16LE(DATE_1980, 8)
    shared.writeUInt32LE(crc32(content), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(content.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const row = Buffer.alloc(14)
    row.writeUInt32LE(((REGULAR_FILE | (isExecutable === true ? 0o755 : 0o644)) << 16) >>> 0, 6)
    row.writeUInt32LE(offset, 10)
    const madeBy = Buffer.alloc(2)
    madeBy.writeUInt16LE(MADE_BY_UNIX)
    files.push(Buffer.from("PK\x03\x04"), shared, name, packed)
    directory.push(Buffer.from("PK\x01\x02"), madeBy, shared, row, name)
    offset += 4 + shared.length + name.length + packed.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06")
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, ...directory, end])
}
