/**
 * A command that is printed is copied into a shell, and what it names may come from anybody's file: `pondCommand`,
 * `shownCommand` and, for agents, `toolCall` write it. A template that inserts something into a command is refused here.
 */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { VERBS } from "../../src/cli/registry.ts"
import { commandText } from "../../src/cli/verbs/restore.ts"
import { argumentText, toolCall } from "../../src/mcp/tool-call.ts"
import { visibleLine } from "../../src/model/visible.ts"
import type { RestoreReport } from "../../src/operations/machine/restore.ts"
import { pondCommand, shownCommand } from "../../src/platform/process/shell-word.ts"
import { hostileIds } from "../support/hostile.ts"
import { stringLiterals } from "./string-literals.ts"

const SRC = join(import.meta.dir, "../../src")
const NAMES = [...new Set(VERBS.map(({ name }) => name.split(" ")[0] ?? name))].join("|")
/** `…` is what a template inserts. The words of a command reach to the next sentence or quote. */
const COMMAND = new RegExp(`\\bpond (?:${NAMES})\\b[^"\`;.:,()]*…|\\bpond_(?:get|search)\\b[^"\`;()]*=…`)

/** A sentence about a verb, and a script of ours that inserts names of shells. */
const SENTENCES = ["Description=pond sync, every", "pond completions … --words"]

test("nothing is inserted into a printed command but by the functions that quote it", () => {
  const found: string[] = []
  for (const file of new Glob("**/*.ts").scanSync(SRC))
    for (const { line, text } of stringLiterals(readFileSync(join(SRC, file), "utf8")))
      if (COMMAND.test(text) && !SENTENCES.some((each) => text.includes(each)))
        found.push(`src/${file}:${line}: ${text}`)
  expect(found).toEqual([])
})

test("the rule sees a command with something inserted, and no sentence", () => {
  for (const text of ["Resume: pond resume …", "pond get … --after …", "pond_get session_id=…"])
    expect(text).toMatch(COMMAND)
  for (const text of ["Run `pond sync`, then …", "pond search finds ids: …"]) expect(text).not.toMatch(COMMAND)
})

const IDS = [
  ...hostileIds(1, 300, ["0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f", "ses_4f2a0f05dffe"]),
  "'",
  "''\\''",
  "=ls",
  "~",
  "*",
  "é\u0301",
]

test("a shell reads back every id as one word, and pond takes none for a flag", () => {
  const words = IDS.filter((id) => !id.includes("\0"))
  const command = words.map((id) => `printf '%s\\0' ${shownCommand([id])}`).join("\n")
  expect(command.split("\n")).toHaveLength(words.length)
  const { stdout } = Bun.spawnSync(["bash", "-c", command])
  expect(stdout.toString().split("\0").slice(0, -1)).toEqual(words)
  expect(pondCommand("get", "-p", { session: "--x", context: "3" })).toBe("pond get --session=--x --context 3 -- -p")
})

test("an agent reads back every id as one argument", () => {
  for (const id of IDS) {
    const text = argumentText(id)
    expect(visibleLine(text)).toBe(text)
    expect(text.startsWith('"') ? JSON.parse(text) : text).toBe(id)
  }
  expect(toolCall("pond_get", { session_id: "s" })).toBe("pond_get session_id=s")
})

test("a directory that begins with a dash is entered, and is no flag of cd", () => {
  const resume = { command: ["claude", "--resume", "x"], cwd: "-w" }
  const text = commandText({ resume } as unknown as RestoreReport)
  expect(text).toBe("cd -- -w && claude --resume x")
})
