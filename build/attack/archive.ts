/**
 * `bun run attack archive [--rounds N] [--seed N]`: export files with changed bytes behind valid checksums. Each is
 * accepted or refused within ten seconds; nothing hangs, nothing crashes, and neither this process nor the one that
 * validates takes more memory than reading a file does.
 */
import { dlopen, FFIType } from "bun:ffi"
import { libcPath } from "../../src/platform/native/libc.ts"
import { judgeArchive, mutateArchive, reshapeArchive, SHAPES } from "../../test/archive/mutations.ts"
import { exported, fill, place } from "../../test/archive/support.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"

const LIMIT_MS = 10_000
const MEMORY_MB_MAX = 400
const RUSAGE_SELF = 0
const RUSAGE_CHILDREN = -1
/** Of a \`rusage\`: two times of two numbers each stand before the peak, and the whole has eighteen. */
const [PEAK, RUSAGE_NUMBERS] = [4, 18]

export const attack: Chaos = {
  summary: "export files with changed bytes behind valid checksums",
  run: async function* (args): AsyncIterable<Outcome> {
    const rounds = numberFlag(args, "rounds", 2000)
    const first = numberFlag(args, "seed", 1)
    using box = place()
    const sessions = box.open("store")
    await fill(sessions, box.file("state"))
    await exported(sessions, box.file("all.pond"))
    const tables = ["sessions", "messages", "parts", "blobs", "embeddings_4"]
    for (const shape of args.includes("--seed") ? [] : Object.keys(SHAPES)) {
      for (const table of tables) {
        const judged = await judgeArchive(
          await reshapeArchive(box.file("all.pond"), box.file("changed.pond"), table, shape),
        )
        if (judged.verdict !== "refused") yield { what: `${table}: ${shape}`, isRight: false, found: judged.said }
      }
    }
    const counts = { accepted: 0, refused: 0, failed: 0, late: 0, large: 0 }
    let slowestMs = 0
    for (let seed = first; seed < first + rounds; seed++) {
      const judged = await judgeArchive(await mutateArchive(box.file("all.pond"), box.file("changed.pond"), seed))
      counts[judged.verdict] += 1
      if (judged.said.includes("reasonable time")) counts.late += 1
      if (judged.said.includes("too much memory")) counts.large += 1
      slowestMs = Math.max(slowestMs, judged.ms)
      if (judged.verdict === "failed" || judged.ms > LIMIT_MS)
        yield { what: `--seed ${seed} --rounds 1`, isRight: false, found: `${judged.ms.toFixed(0)} ms, ${judged.said}` }
    }
    const [own, validating] = [peakMb(RUSAGE_SELF), peakMb(RUSAGE_CHILDREN)]
    yield {
      what: `${rounds} files`,
      isRight: counts.failed === 0 && slowestMs < LIMIT_MS && Math.max(own, validating) < MEMORY_MB_MAX,
      found: `${counts.accepted} accepted, ${counts.refused} refused, ${counts.late} of them at the deadline and ${counts.large} for their memory; the slowest took ${(slowestMs / 1000).toFixed(1)} s; at most ${own.toFixed(0)} MB here and ${validating.toFixed(0)} MB where they are validated`,
    }
  },
}

function peakMb(who: number): number {
  const { symbols } = dlopen(libcPath() ?? "", {
    getrusage: { args: [FFIType.int, FFIType.ptr], returns: FFIType.int },
  })
  const usage = new BigInt64Array(RUSAGE_NUMBERS)
  symbols.getrusage(who, usage)
  const peak = Number(usage[PEAK])
  return process.platform === "darwin" ? peak / 2 ** 20 : peak / 2 ** 10
}
