/** Zip files, whole ones and such as nobody should write. */
import { deflateRawSync } from "node:zlib"

export interface Packed {
  readonly name: string
  readonly content: string | Uint8Array
  /** What it says of its size, where that is not so. */
  readonly said?: number
  readonly isStored?: true
  readonly method?: number
}

export function makeZip(members: readonly Packed[]): Buffer {
  const pieces: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, said, isStored, method = isStored ? 0 : 8 } of members) {
    const bytes = Buffer.from(content)
    const packed = isStored ? bytes : deflateRawSync(bytes)
    const named = Buffer.from(name)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(method, 8)
    header.writeUInt16LE(named.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt32LE(said ?? bytes.length, 24)
    entry.writeUInt16LE(named.length, 28)
    entry.writeUInt32LE(at, 42)
    pieces.push(header, named, packed)
    directory.push(entry, named)
    at += header.length + named.length + packed.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...pieces, index, end])
}
