/**
 * `bun build/record-order.ts`: records which functions everyday commands run, for `bun run build` to place their bytecode
 * together (`release/commands.order`): a command that maps fewer pages of the executable holds 3 to 5 MB less. Functions are
 * told apart by a hash of their syntax, so a recording of months ago serves; record again when the share of functions that
 * it does not know has grown. Needs `dist/pond`.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeCorpus } from "./corpus/corpus.ts"
import { start } from "./lib/timed-run.ts"
import { COMMANDS_ORDER } from "./release/executable.ts"
import { ROOT } from "./release/packages.ts"
import { orFailure } from "./release/targets.ts"

const POND = join(ROOT, "dist/pond")
const WORD = "morloker"

/** Those that ran, and the heads of their modules. What else there is need not be listed, and is most of a recording. */
const KINDS = ["F", "M", "N"]

interface Found {
  readonly sessions: readonly {
    readonly session_id: string
    readonly matches: readonly { readonly message_id: string }[]
  }[]
}

async function main(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), "pond-order-"))
  try {
    const [home, orders] = [join(scratch, "home"), join(scratch, "orders")]
    for (const folder of [home, orders]) mkdirSync(folder)
    writeCorpus({ home, sessions: 100, linesTypical: 60, seed: 7 })
    for (let round = 0; round < 2; round++) start(home, [POND, "sync", "--json"])
    const found = JSON.parse(start(home, [POND, "search", WORD, "--json"]).stdout) as Found
    const [first] = found.sessions
    const ids = [first?.session_id, first?.matches[0]?.message_id].map((id) => ["get", id ?? ""])
    const commands = [["search", WORD], ...ids, ["sync"], ["status"], ["list"], ["search", "qqzzxy"]]
    for (const [at, command] of commands.entries())
      start(home, ["env", `BUN_BYTECODE_ORDER_OUT=${join(orders, `${at}-%p`)}`, POND, ...command])
    const recorded = readdirSync(orders)
      .toSorted()
      .map((name) => readFileSync(join(orders, name), "utf8").split("\n"))
    const version = recorded[0]?.[0] ?? ""
    const lines = KINDS.flatMap((kind) =>
      recorded.flatMap((each) => each.filter((line) => line.startsWith(`${kind} `))),
    )
    const unique = [...new Set(lines)]
    writeFileSync(COMMANDS_ORDER, `${[version, ...unique].join("\n")}\n`)
    console.log(`${unique.length} functions and modules of ${recorded.length} commands`)
    return 0
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

process.exitCode = await orFailure("record-order", main)
