/**
 * `bun run attack archive [--rounds N] [--seed N]`: export files with changed bytes behind valid checksums. Each is
 * accepted or refused within ten seconds of processor time; nothing hangs, nothing crashes, and neither this process nor
 * the one that validates takes more memory than reading a file does.
 */
import { judgeArchive, mutateArchive, reshapeArchive, SHAPES } from "../../test/archive/mutations.ts"
import { exported, fill, place } from "../../test/archive/support.ts"
import { usageOf } from "../../test/support/rusage.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"

const CPU_MS_MAX = 10_000
/** By the clock a busy machine takes longer, and what hangs takes for ever. */
const HANGS_MS = 60_000
const MEMORY_MB_MAX = 400

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
    let [slowestMs, mostCpuMs] = [0, 0]
    for (let seed = first; seed < first + rounds; seed++) {
      const judged = await judgeArchive(await mutateArchive(box.file("all.pond"), box.file("changed.pond"), seed))
      counts[judged.verdict] += 1
      if (judged.said.includes("reasonable time")) counts.late += 1
      if (judged.said.includes("too much memory")) counts.large += 1
      slowestMs = Math.max(slowestMs, judged.ms)
      mostCpuMs = Math.max(mostCpuMs, judged.cpuMs)
      if (judged.verdict === "failed" || judged.cpuMs > CPU_MS_MAX || judged.ms > HANGS_MS) {
        const found = `${judged.cpuMs.toFixed(0)} ms of processor time in ${judged.ms.toFixed(0)} ms, ${judged.said}`
        yield { what: `--seed ${seed} --rounds 1`, isRight: false, found }
      }
    }
    const [own, validating] = [usageOf("self").peakMb, usageOf("children").peakMb]
    yield {
      what: `${rounds} files`,
      isRight:
        counts.failed === 0 &&
        mostCpuMs < CPU_MS_MAX &&
        slowestMs < HANGS_MS &&
        Math.max(own, validating) < MEMORY_MB_MAX,
      found: `${counts.accepted} accepted, ${counts.refused} refused, ${counts.late} of them at the deadline and ${counts.large} for their memory; at most ${(mostCpuMs / 1000).toFixed(1)} s of processor time and ${(slowestMs / 1000).toFixed(1)} s by the clock; at most ${own.toFixed(0)} MB here and ${validating.toFixed(0)} MB where they are validated`,
    }
  },
}
