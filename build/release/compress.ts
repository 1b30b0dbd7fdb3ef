/**
 * A native library as it travels inside the executable: without its symbols, in zstd frames of a fixed length each, so
 * that unpacking needs the memory of one frame. Compressing 250 MB well takes minutes, so the result is kept, by content
 * and level.
 */
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs"
import { basename, join } from "node:path"
import type { EmbeddedFile } from "../../src/platform/native/native-assets.ts"
import { BUILD_CACHE } from "./packages.ts"
import { stripLibrary } from "./strip.ts"

const FRAME_BYTES = 32 * 1024 * 1024

export async function compressed(path: string, level: number): Promise<EmbeddedFile> {
  const bytes = stripLibrary(readFileSync(path))
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
  const name = basename(path)
  const folder = join(BUILD_CACHE, "compressed")
  const asset = join(folder, `${name}-${sha256.slice(0, 16)}-${level}-${FRAME_BYTES}.zst`)
  const index = `${asset}.json`
  if (!existsSync(index)) {
    mkdirSync(folder, { recursive: true })
    const frames = await Promise.all(framesOf(bytes).map((frame) => Bun.zstdCompress(frame, { level })))
    await writeWhole(asset, Buffer.concat(frames))
    await writeWhole(index, JSON.stringify(frames.map((frame) => frame.length)))
  }
  const frames = JSON.parse(readFileSync(index, "utf8")) as number[]
  return { name, bytes: bytes.length, sha256, asset, frames }
}

function framesOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const count = Math.ceil(bytes.length / FRAME_BYTES)
  return Array.from({ length: count }, (_, frame) => bytes.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES))
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  await Bun.write(draft, content)
  renameSync(draft, path)
}
