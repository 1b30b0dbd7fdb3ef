/** What help and the skill tell people and agents to type is what this pond takes. */
import { expect, test } from "bun:test"
import { GLOBAL_FLAGS } from "../../src/cli/flags.ts"
import { findVerb, readInvocation } from "../../src/cli/frame/parse-arguments.ts"
import { SKILL } from "../../src/cli/help/skill-text.ts"
import { TOPICS } from "../../src/cli/help/topics.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { QUERY_TABLES } from "../../src/operations/sql/query-tables.ts"
import { runPond } from "../support/warm-pond.ts"

/** As a shell would split it; what follows two spaces is a remark of ours. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, twice, once, bare]) => twice ?? once ?? bare ?? "")
}

async function refusalOf(command: string): Promise<string | undefined> {
  try {
    const route = findVerb(wordsOf(command), VERBS)
    const verb = await route?.row.load()
    if (route === undefined || verb === undefined) return `${command}: no verb`
    readInvocation(route.rest, { ...GLOBAL_FLAGS, ...verb.flags }, verb.positionals)
    return undefined
  } catch (error) {
    return `${command}: ${error instanceof Error ? error.message : "?"}`
  }
}

async function refusals(commands: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(commands.map(refusalOf))
  return answers.filter((answer) => answer !== undefined)
}

/** Up to an explanation, or to the program that it is handed to. */
const COMMAND_LINE = /^ {2}pond (.*?)(?: \||(?: {2,}.*))?$/gm
/** In the middle of a sentence; `pond help …` is no verb. */
const COMMAND_INSIDE = /`pond ((?!help )[^`]+)`/g

test.each(TOPICS.map(({ name, text }) => ({ name, text })))(
  "pond help $name: each command in it is one that pond takes",
  async ({ name, text }) => {
    const commands = [...text.matchAll(COMMAND_LINE), ...text.matchAll(COMMAND_INSIDE)].map(
      ([, command = ""]) => command,
    )
    expect(commands.length).toBeGreaterThan(0)
    expect(await refusals(commands)).toEqual([])
    expect(text.split("\n").filter((line) => line.length > 88)).toEqual([])
    const shown = await runPond(["help", name])
    expect(shown.exitCode).toBe(0)
    expect(shown.stdout).toContain(text)
  },
)

test("pond help sql names every column of every table, and no other", () => {
  const text = TOPICS.find(({ name }) => name === "sql")?.text ?? ""
  const told = [...text.matchAll(/^ {2}(sessions|messages|parts|embeddings|usage) +([\w,\s]+?)\n(?=\n| {2}\w)/gm)]
  expect(told.map(([, table, columns = ""]) => ({ table, columns: new Set(columns.split(/[,\s]+/)) }))).toEqual(
    QUERY_TABLES.map(({ name, columns }) => ({ table: name, columns: new Set(columns.map((column) => column.name)) })),
  )
})

test("topics are listed by help, in words and for programs", async () => {
  const [words, json] = await Promise.all([runPond(["help"]), runPond(["help", "--json"])])
  expect(
    TOPICS.filter(({ name, summary }) => !words.stdout.includes(`  ${name} `) || !words.stdout.includes(summary)),
  ).toEqual([])
  expect(JSON.parse(json.stdout).topics.map(({ name }: { name: string }) => name)).toEqual(
    TOPICS.map(({ name }) => name),
  )
})

test("a topic that is a verb too explains both, and the verb's own help stays short", async () => {
  const [topic, verb, wrong] = await Promise.all([
    runPond(["help", "search"]),
    runPond(["search", "--help"]),
    runPond(["help", "embedings"]),
  ])
  expect(topic.stdout).toContain(verb.stdout)
  expect(topic.stdout.length).toBeGreaterThan(verb.stdout.length + 500)
  expect(wrong).toEqual({
    exitCode: 2,
    stdout: "",
    stderr: 'pond: Unknown verb or topic "embedings". Did you mean embeddings? Run pond --help.\n',
  })
})

test("the skill names this version, and only commands and flags that this pond takes", async () => {
  const { stdout } = await runPond(["skill"])
  expect(stdout).toBe(SKILL)
  expect(stdout).toMatch(/^---\nname: pond\ndescription: .{80,1024}\n---\n/)
  const { name: skillName, description } = Bun.YAML.parse(SKILL.split("---\n")[1] ?? "") as Record<string, string>
  expect({ name: skillName, opens: description?.startsWith("Recall past sessions") }).toEqual({
    name: "pond",
    opens: true,
  })
  const blocks = [...SKILL.matchAll(/```\n(.*?)```/gs)].map(([, block = ""]) => block)
  const lines = blocks.flatMap((block) => block.trimEnd().split("\n")).map((line) => line.replace(/^pond /, ""))
  const commands = [...lines, ...[...SKILL.matchAll(COMMAND_INSIDE)].map(([, command = ""]) => command)]
  expect(commands.length).toBeGreaterThan(10)
  expect(await refusals(commands)).toEqual([])
  const flags = new Set((await Promise.all(VERBS.map(async ({ load }) => Object.keys((await load()).flags)))).flat())
  const named = [...SKILL.matchAll(/--([a-z][a-z-]+)/g)].map(([, name = ""]) => name)
  expect(named.filter((name) => !flags.has(name) && !Object.hasOwn(GLOBAL_FLAGS, name))).toEqual([])
})
