/**
 * `bun run attack archive [--rounds N] [--seed N]`: export files with changed bytes behind valid checksums. Each is
 * accepted or refused within ten seconds; nothing hangs, nothing crashes, and the memory is that of reading a file.
 */
import { judgeArchive, mutateArchive } from "../../test/archive/mutations.ts"
import { exported, fill, place } from "../../test/archive/support.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"

const LIMIT_MS = 10_000
const MEMORY_MB_MAX = 600

export const attack: Chaos = {
  summary: "export files with changed bytes behind valid checksums",
  run: async function* (args): AsyncIterable<Outcome> {
    const rounds = numberFlag(args, "rounds", 2000)
    const first = numberFlag(args, "seed", 1)
    using box = place()
    const sessions = box.open("store")
    await fill(sessions, box.file("state"))
    await exported(sessions, box.file("all.pond"))
    const counts = { accepted: 0, refused: 0, failed: 0, ended: 0 }
    let slowestMs = 0
    for (let seed = first; seed < first + rounds; seed++) {
      const judged = await judgeArchive(await mutateArchive(box.file("all.pond"), box.file("changed.pond"), seed))
      counts[judged.verdict] += 1
      if (judged.said.includes("reasonable time")) counts.ended += 1
      slowestMs = Math.max(slowestMs, judged.ms)
      if (judged.verdict === "failed" || judged.ms > LIMIT_MS)
        yield { what: `--seed ${seed} --rounds 1`, isRight: false, found: `${judged.ms.toFixed(0)} ms, ${judged.said}` }
    }
    const peakMb = process.resourceUsage().maxRSS / 1024
    yield {
      what: `${rounds} files`,
      isRight: counts.failed === 0 && slowestMs < LIMIT_MS && peakMb < MEMORY_MB_MAX,
      found: `${counts.accepted} accepted, ${counts.refused} refused, ${counts.ended} of them at the deadline; the slowest took ${(slowestMs / 1000).toFixed(1)} s; ${peakMb.toFixed(0)} MB at most`,
    }
  },
}
