import { expect, test } from "bun:test"
import { completionScript, SHELLS } from "../../src/cli/completion-scripts.ts"
import { flag, NO_FLAGS } from "../../src/cli/flags.ts"
import { VERBS } from "../../src/cli/registry.ts"
import type { VerbRow } from "../../src/cli/verb.ts"
import { runPond } from "../support/pond-process.ts"

const row = (name: string): VerbRow => ({
  name,
  group: "care",
  summary: `It's ${name}: [all].`,
  load: () => Promise.reject(new Error("not loaded here")),
})

const SEARCH = {
  row: row("search"),
  flags: { mode: flag.choice("", ["auto", "words"]), output: flag.text("", "FILE", { short: "o" }) },
}
const VERBS_HERE = [
  { ...SEARCH, positionals: [{ name: "query", summary: "what.", count: "one" }] },
  { row: row("adapters list"), flags: NO_FLAGS, positionals: [] },
  {
    row: row("adapters enable"),
    flags: NO_FLAGS,
    positionals: [{ name: "adapter", summary: "which.", count: "many", choices: ["codex", "pi"] }],
  },
] as const

/** Sources the script in a real bash and presses tab at the end of each line. */
async function tab(...lines: readonly string[]): Promise<Record<string, string>> {
  const presses = lines.map((line) => {
    const words = line.split(" ").map((word) => `'${word}'`)
    return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _pond; echo "\${COMPREPLY[*]}"`
  })
  const script = [completionScript("bash", VERBS_HERE), ...presses].join("\n")
  const child = Bun.spawn(["bash", "-c", script], { stdout: "pipe", stderr: "inherit" })
  const replies = (await new Response(child.stdout).text()).split("\n")
  return Object.fromEntries(lines.map((line, index) => [line, replies[index] ?? ""]))
}

test("bash completes verbs, second words, flags, choices and files", async () => {
  expect(
    await tab(
      "pond ",
      "pond se",
      "pond search --m",
      "pond search --mode ",
      "pond --store x adapters ",
      "pond adapters enable c",
      `pond search -o ${import.meta.path.slice(0, -2)}`,
    ),
  ).toEqual({
    "pond ": "search adapters",
    "pond se": "search",
    "pond search --m": "--mode",
    "pond search --mode ": "auto words",
    "pond --store x adapters ": "list enable",
    "pond adapters enable c": "codex",
    [`pond search -o ${import.meta.path.slice(0, -2)}`]: import.meta.path,
  })
})

test.each(SHELLS)("the %s script knows every verb of the table", async (shell) => {
  const { stdout, exitCode } = await runPond(["completions", shell], { env: {} })
  expect(exitCode).toBe(0)
  const words = VERBS.flatMap(({ name }) => name.split(" "))
  expect(words.filter((word) => !stdout.includes(word))).toEqual([])
})

test.each([
  ["zsh", `'search:It'\\''s search -`],
  ["fish", "complete -c pond -n '__fish_use_subcommand' -a 'search' -d 'It\\'s search: [all].'"],
] as const)("the %s script quotes what a summary holds", (shell, line) => {
  expect(completionScript(shell, VERBS_HERE)).toContain(line)
})
