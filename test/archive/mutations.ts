/** Export files with changed bytes behind valid checksums: what somebody would make who knows the form. */
import { checkArchive, openArchive } from "../../src/archive/file/open-archive.ts"
import { PondError } from "../../src/model/errors.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { usageOf } from "../support/rusage.ts"
import { rewritten, work } from "./support.ts"

const CHANGES_MAX = 40
/** Where the columns and their offsets are told. */
const HEAD_BYTES = 2000

export async function mutateArchive(path: string, to: string, seed: number): Promise<string> {
  const random = seededRandom(seed)
  const below = (count: number) => Math.floor(random.next() * count)
  return await rewritten(path, to, (entries, manifest) => {
    const entry = entries[below(entries.length)]
    const listed = manifest.entries.find(({ name }) => name === entry?.name)
    if (entry === undefined || listed === undefined) throw new Error("the export file has no entries")
    const raw = Bun.zstdDecompressSync(entry.content)
    const changes = 1 + below(CHANGES_MAX)
    const reach = random.next() < 0.6 ? Math.min(raw.length, HEAD_BYTES) : raw.length
    for (let change = 0; change < changes; change++) raw[below(reach)] = random.next() < 0.3 ? 255 : below(256)
    entry.content = Bun.zstdCompressSync(raw)
    listed.raw_bytes = raw.length
  })
}

/** Entries that are no stream of rows at all, each behind valid checksums. */
export const SHAPES: Readonly<Record<string, (raw: Uint8Array) => Uint8Array>> = {
  "zeros alone": () => new Uint8Array(64),
  "the end of a stream alone": () => new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0]),
  "100 MB of zeros": () => new Uint8Array(100_000_000),
  "a stream without its first eight bytes": (raw) => raw.slice(8),
  "half of a stream": (raw) => raw.slice(0, raw.length >> 1),
  "the columns without rows": (raw) => raw.slice(0, 8 + new DataView(raw.buffer, raw.byteOffset).getInt32(4, true)),
  text: () => new TextEncoder().encode("{".repeat(10_000)),
}

export async function reshapeArchive(path: string, to: string, table: string, shape: string): Promise<string> {
  return await rewritten(path, to, (entries, manifest) => {
    const entry = entries.find(({ name }) => name.startsWith(`${table}/`))
    const listed = manifest.entries.find(({ name }) => name === entry?.name)
    if (entry === undefined || listed === undefined) throw new Error(`the export file has no ${table}`)
    const raw = SHAPES[shape]?.(Bun.zstdDecompressSync(entry.content)) ?? new Uint8Array()
    entry.content = Bun.zstdCompressSync(raw)
    listed.raw_bytes = raw.length
  })
}

export interface Judged {
  /** `failed` is what must not be: a failure that names no fault of the file. */
  readonly verdict: "accepted" | "refused" | "failed"
  readonly said: string
  /** By the clock, which shows what hangs. */
  readonly ms: number
  /** Of processor time, here and in the process that validates: what the file costs, however busy the machine is. */
  readonly cpuMs: number
}

export async function judgeArchive(path: string): Promise<Judged> {
  const [began, cpuBegan] = [performance.now(), cpuMs()]
  const judged = await readAll(path).then(
    () => ({ verdict: "accepted", said: "" }) as const,
    (error: unknown) => {
      const isRefused = error instanceof PondError && error.code === "validation_failed"
      return { verdict: isRefused ? "refused" : "failed", said: String(error) } as const
    },
  )
  return { ...judged, ms: performance.now() - began, cpuMs: cpuMs() - cpuBegan }
}

const cpuMs = () => usageOf("self").cpuMs + usageOf("children").cpuMs

async function readAll(path: string): Promise<void> {
  const archive = await openArchive(path)
  try {
    await checkArchive(archive, work)
  } finally {
    await archive.close()
  }
}
