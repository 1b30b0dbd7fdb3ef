import { expect, test } from "bun:test"
import { type Flags, flag, NO_FLAGS } from "../../src/cli/flags.ts"
import { completionScript, SHELLS } from "../../src/cli/help/completion-scripts.ts"
import { VERBS } from "../../src/cli/registry.ts"
import type { VerbRow } from "../../src/cli/verb.ts"
import { homeOfClients } from "../support/clients-home.ts"
import { runPond } from "../support/warm-pond.ts"

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

test.each(["bash", "fish"])("%s completes files where a verb takes one, and what help is about", async (shell) => {
  if (Bun.which(shell) === null) return
  const { stdout } = await runPond(["completions", shell], { env: {} })
  const path = import.meta.path.slice(0, -2)
  const lines = [`pond import ${path}`, `pond export -o ${path}`, `pond --store ${path}`, "pond help sto", "pond hel"]
  const press = (line: string) => {
    const words = line.split(" ").map((word) => `'${word}'`)
    return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _pond; echo "\${COMPREPLY[*]}"`
  }
  const presses = shell === "bash" ? lines.map(press) : lines.map((line) => `complete -C '${line}' | cut -f 1`)
  const child = Bun.spawn([shell, "-c", [stdout, ...presses].join("\n")], { stdout: "pipe", stderr: "inherit" })
  const replies = (await new Response(child.stdout).text()).trimEnd().split("\n")
  const file = import.meta.path
  expect(replies).toEqual([file, file, file, "storage", "help"])
})

test("bash asks pond for words that only the store knows, for arguments and for values of flags", async () => {
  const verbs = [
    {
      row: row("get"),
      flags: { to: flag.text("", "ADAPTER", { words: "adapters" }) },
      positionals: [{ name: "session", summary: "which.", count: "one", words: "sessions" }],
    },
  ] as const
  const asked = `pond() { echo "$2-$4-one $2-$4-two \${5#--beginning=}-three"; }`
  const press = (line: string) => {
    const words = line.split(" ").map((word) => `'${word}'`)
    return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _pond; echo "\${COMPREPLY[*]}"`
  }
  const script = [asked, completionScript("bash", verbs), press("pond get b"), press("pond get x --to b")].join("\n")
  const child = Bun.spawn(["bash", "-c", script], { stdout: "pipe", stderr: "inherit" })
  expect(await new Response(child.stdout).text()).toBe(
    "bash-sessions-one bash-sessions-two b-three\nbash-adapters-one bash-adapters-two b-three\n",
  )
})

test("the words are those of this machine and this store, with what each is where the shell shows it", async () => {
  using home = homeOfClients()
  await runPond(["sync", "-q"], { env: home.env })
  const asked = (shell: string, kind: string) => runPond(["completions", shell, "--words", kind], { env: home.env })
  const [bash, zsh, fish, adapters, empty] = await Promise.all([
    asked("bash", "sessions"),
    asked("zsh", "sessions"),
    asked("fish", "sessions"),
    asked("bash", "adapters"),
    runPond(["completions", "bash", "--words", "sessions"], { env: { HOME: "/nowhere" } }),
  ])
  const ids = bash.stdout.trimEnd().split("\n")
  expect(ids.length).toBe(4)
  expect(ids).toContain("0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8")
  expect(
    zsh.stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(":")[0] ?? ""),
  ).toEqual(ids)
  expect(
    fish.stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t").length),
  ).toEqual([2, 2, 2, 2])
  const [first = "", ...others] = ids.toSorted()
  const begun = await runPond(["completions", "bash", "--words", "sessions", `--beginning=${first.slice(0, 8)}`], {
    env: home.env,
  })
  expect(begun.stdout.split("\n")).toContain(first)
  expect(others.filter((id) => !id.startsWith(first.slice(0, 8)) && begun.stdout.includes(id))).toEqual([])
  expect(adapters.stdout).toStartWith("claude-code\ncodex\nopencode\npi\n")
  expect(empty).toEqual({ stdout: "", stderr: "", exitCode: 0 })
}, 60_000)

test("every flag that takes the id of a session or the name of a client is completed with those that there are", async () => {
  const loaded = await Promise.all(VERBS.map(async (verb) => ({ name: verb.name, ...(await verb.load()) })))
  const plain = loaded.flatMap(({ name, flags }) =>
    Object.entries(flags as Flags)
      .filter(([flagName, { words }]) => /^(session|agent|to)$/.test(flagName) && words === undefined)
      .map(([flagName]) => `${name} --${flagName}`),
  )
  // These take a day, a store, or where to share.
  expect(plain.toSorted()).toEqual([
    "browse --to",
    "copy --to",
    "cost --to",
    "erase --to",
    "export --to",
    "list --to",
    "search --to",
    "share --to",
    "stats --to",
  ])
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

test("fish completes files behind the verbs that take one, and behind no other", () => {
  const verbs = [
    {
      row: row("blame"),
      flags: NO_FLAGS,
      positionals: [{ name: "file", summary: "which.", count: "one", isFile: true }],
    },
    { row: row("get"), flags: NO_FLAGS, positionals: [{ name: "session", summary: "which.", count: "one" }] },
  ] as const
  const lines = completionScript("fish", verbs).split("\n")
  expect(lines.filter((line) => line.endsWith(" -F"))).toEqual([
    "complete -c pond -n '__fish_seen_subcommand_from blame' -F",
  ])
})
