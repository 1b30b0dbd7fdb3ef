/** What holds for every verb there is, and will be. */
import { expect, test } from "bun:test"
import { GLOBAL_FLAGS } from "../../src/cli/flags.ts"
import { findVerb, readInvocation } from "../../src/cli/frame/parse-arguments.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { VERSION } from "../../src/platform/host/version.ts"
import { runPond } from "../support/warm-pond.ts"

const SUMMARY_MAX = 70

test("names are unique, and summaries are one short sentence", () => {
  const names = VERBS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(2)
  const wrong = VERBS.filter(({ summary }) => summary.length > SUMMARY_MAX || !/^[A-Z].*\.$/.test(summary))
  expect(wrong.map(({ name }) => name)).toEqual([])
})

/** As a shell would split it, up to where the shell's own words begin. */
function wordsOf(example: string): string[] {
  const words = [...example.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, twice, once, bare]) => twice ?? once ?? bare ?? "",
  )
  const shell = words.findIndex((word) => ["|", ">", ">>", "&&"].includes(word))
  return shell === -1 ? words : words.slice(0, shell)
}

test.each(VERBS.map(({ name, load }) => ({ name, load })))(
  "$name: every example is a command line that it takes",
  async ({ name, load }) => {
    const verb = await load()
    expect(verb.examples.length).toBeGreaterThan(0)
    for (const example of verb.examples) {
      const route = findVerb(wordsOf(example), VERBS)
      expect({ example, verb: route?.row.name }).toEqual({ example, verb: name })
      expect(() =>
        readInvocation(route?.rest ?? [], { ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals),
      ).not.toThrow()
    }
  },
)

test.each(VERBS.map(({ name, load }) => ({ name, load })))(
  "$name: its flags are spelled like flags and hide no global one",
  async ({ load }) => {
    const { flags, positionals } = await load()
    const names = Object.keys(flags)
    expect(names.filter((name) => !/^[a-z][a-z-]*[a-z]$/.test(name) || Object.hasOwn(GLOBAL_FLAGS, name))).toEqual([])
    const shorts = [...Object.values(GLOBAL_FLAGS), ...Object.values(flags)].flatMap(
      ({ short }: { short?: string }) => short ?? [],
    )
    expect(new Set(shorts).size).toBe(shorts.length)
    const lastOnly = positionals.slice(0, -1).filter(({ count }) => count !== "one")
    expect(lastOnly).toEqual([])
  },
)

test("help lists every verb with its summary, in words and for programs", async () => {
  const [words, alone, json] = await Promise.all([runPond(["--help"]), runPond([]), runPond(["--help", "--json"])])
  expect(
    VERBS.filter(({ name, summary }) => !words.stdout.includes(`${name} `) || !words.stdout.includes(summary)),
  ).toEqual([])
  expect(alone).toEqual(words)
  const document = JSON.parse(json.stdout)
  expect(document.protocol_version).toBe(1)
  expect(document.verbs.map(({ name }: { name: string }) => name)).toEqual(VERBS.map(({ name }) => name))
})

test("the help of a verb is asked for in three ways", async () => {
  const ways = await Promise.all([
    runPond(["completions", "--help"]),
    runPond(["help", "completions"]),
    runPond(["-h", "completions"]),
  ])
  expect(ways[0]?.stdout).toContain("Usage  pond completions SHELL [flags]\n")
  expect(ways.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
  expect(new Set(ways.map(({ stdout }) => stdout)).size).toBe(1)
})

test("the version is one line, or one document", async () => {
  const [words, json] = await Promise.all([runPond(["--version"]), runPond(["--version", "--json"])])
  expect(words).toEqual({ stdout: `pond ${VERSION}\n`, stderr: "", exitCode: 0 })
  expect(JSON.parse(json.stdout)).toEqual({ protocol_version: 1, version: VERSION })
})

test("help and version need no home and no configuration", async () => {
  const env = { POND_CONFIG: "/nowhere" }
  const ran = await Promise.all([runPond(["--help"], { env }), runPond(["--version"], { env })])
  expect(ran.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual([
    { exitCode: 0, stderr: "" },
    { exitCode: 0, stderr: "" },
  ])
})

test("the help of a verb as a document has its short flags", async () => {
  const { stdout } = await runPond(["help", "get", "--json"])
  const { flags } = JSON.parse(stdout) as { flags: { name: string; short?: string }[] }
  expect(flags.filter(({ short }) => short !== undefined)).toMatchObject([{ name: "--output", short: "-o" }])
})
