/** The words that people type who come from other tools: each works, or the answer names what does it. */
import { expect, test } from "bun:test"
import { flag, GLOBAL_FLAGS } from "../../src/cli/flags.ts"
import { findVerb, readInvocation } from "../../src/cli/frame/parse-arguments.ts"
import { VERBS } from "../../src/cli/registry.ts"
import { VERB_SYNONYMS } from "../../src/cli/synonyms.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

/** Tried by people on their first day. */
const TRIED =
  "list ls sessions show log open history recent last browse view tui ui web find grep query cat tail cost usage rm delete erase forget prune clean gc update upgrade self-update info share html merge pull push backup projects tag note login logs"

test.each(TRIED.split(" "))("%s runs a verb, or the answer names one", (word) => {
  if (VERBS.some(({ name }) => name === word)) return
  const synonym = VERB_SYNONYMS[word]
  if (synonym?.runs !== undefined) {
    expect(findVerb([word, "x"], VERBS)).toMatchObject({ row: { name: synonym.runs }, rest: ["x"] })
    return
  }
  expect(() => findVerb([word, "x"], VERBS)).toThrow(`Unknown verb "${word}". ${synonym?.hint}`)
})

test("a hint names verbs that there are, and a verb is never hidden by a synonym", () => {
  const names = VERBS.map(({ name }) => name.split(" ")[0] ?? "")
  for (const [word, { hint = "", runs }] of Object.entries(VERB_SYNONYMS)) {
    expect(names).not.toContain(word)
    for (const [, verb = ""] of hint.matchAll(/`pond ([a-z]+)/g)) expect([...names, "help"]).toContain(verb)
    if (runs !== undefined) expect(VERBS.map(({ name }) => name)).toContain(runs)
  }
})

const FLAGS = {
  ...GLOBAL_FLAGS,
  from: flag.text("", "DATE"),
  limit: flag.wholeNumber(""),
  project: flag.text("", "TEXT"),
}

test.each([
  [["--since", "yesterday"], { from: "yesterday" }],
  [["--after=7d"], { from: "7d" }],
  [["-n", "5"], { limit: 5 }],
  [["--max", "5", "-p", "shop"], { limit: 5, project: "shop" }],
])("%j is understood", (argv, values) => expect(readInvocation(argv, FLAGS, [])).toMatchObject({ values }))

test("a flag of that name comes first, and words behind -- stay as they are", () => {
  const own = { ...FLAGS, after: flag.text("", "ID") }
  expect(readInvocation(["--after", "m1"], own, [])).toMatchObject({ values: { after: "m1", from: undefined } })
  const words = [{ name: "query", summary: "", count: "many" as const }]
  expect(readInvocation(["--", "--since"], FLAGS, words)).toMatchObject({ words: ["--since"] })
})

test("what is a value of another flag is explained", () => {
  expect(() => readInvocation(["--days", "7"], FLAGS, [])).toThrow(
    "Unknown flag --days. Use --from, for example --from 7d.",
  )
})

test("operators of other search engines are understood, and the answer says how", async () => {
  using home = temporaryHome()
  const { stdout } = await runPond(["search", "refactor OR user:me foo* -- -test", "--json"], home)
  const { understood } = (JSON.parse(stdout) as { searched: { understood: string[] } }).searched
  expect(understood).toEqual([
    "OR: any of the words counts",
    "role user",
    "foo*: words always match by their beginning",
  ])
})
