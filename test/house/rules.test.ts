import { expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** `src/RULES.md` against the code: what it defines is cited, and what is cited is defined. */
const ROOT = join(import.meta.dir, "../..")
const RULES = readFileSync(join(ROOT, "src/RULES.md"), "utf8")
/** A rule, as comments cite it. */
const CITED = /`((?:lance|model|session|adapter|search|wire)-[a-z]+(?:-[a-z]+)+)`/g

const rules = RULES.split(/^### /m)
  .slice(1)
  .map((section) => ({ id: /^`([^`]+)`/.exec(section)?.[1] ?? section.split("\n")[0] ?? "", section }))
const ids = rules.map(({ id }) => id)

function citations(): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".gen.ts")) continue
    const text = readFileSync(join(ROOT, "src", name), "utf8")
    for (const [, id = ""] of text.matchAll(CITED)) found.set(id, `src/${name}`)
  }
  return found
}

test("every rule has a name of its own, says what it asks, where it is upheld and what proves it", () => {
  expect(ids.length).toBeGreaterThan(40)
  expect(new Set(ids).size).toBe(ids.length)
  const incomplete = rules.filter(({ section }) => !/\n\n[A-Z].*\n\n- Upheld by `.*\n- Proved by `/s.test(section))
  expect(incomplete.map(({ id }) => id)).toEqual([])
})

test("every file that src/RULES.md names is there, and each that upholds a rule cites rules", () => {
  const named = [...RULES.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = ""]) => path)
  expect(named.length).toBeGreaterThan(80)
  expect([...new Set(named)].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  const upholding = rules.flatMap(
    ({ section }) => /^- Upheld by (.*)$/m.exec(section)?.[1]?.match(/src\/[\w./-]+/g) ?? [],
  )
  const silent = [...new Set(upholding)].filter((path) => readFileSync(join(ROOT, path), "utf8").match(CITED) === null)
  expect(silent).toEqual([])
})

test("every rule is cited in the code, or each rule that it consists of is", () => {
  const cited = [...citations().keys()]
  const isCited = (id: string) => cited.some((name) => name === id || name.startsWith(`${id}-`))
  expect(ids.filter((id) => !isCited(id))).toEqual([])
})

test("every rule that the code cites is defined in src/RULES.md", () => {
  const undefinedOnes = [...citations()].filter(([id]) => !ids.includes(id))
  expect(undefinedOnes).toEqual([])
})

test("a rule of src/RULES.md is cited by its name and not by the number of a section elsewhere", () => {
  const wrong: string[] = []
  for (const name of readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".gen.ts")) continue
    if (/\bspec \d/.test(readFileSync(join(ROOT, "src", name), "utf8"))) wrong.push(`src/${name}`)
  }
  expect(wrong).toEqual([])
})

/** The numbers in the first column of the table, and those of the list of reasons below it. */
const differences = RULES.slice(RULES.indexOf("## Where pond differs on purpose"), RULES.indexOf("## Open"))
const numbered = [...differences.matchAll(/^\| (\d+) +\| (.+?) +\| (.+?) +\|$/gm)]
const reasons = [...differences.matchAll(/^(\d+)\. (\S.*(?:\n {3,}\S.*)*)/gm)]

test("every difference has a number, says both sides, and gives its reason under that number", () => {
  const numbers = numbered.map(([, number]) => Number(number))
  expect(numbers.length).toBeGreaterThan(40)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
  expect(reasons.map(([, number]) => Number(number))).toEqual(numbers)
  const referring = reasons
    .map(([, , reason = ""]) => /^(?:As|See) (\d+)/.exec(reason)?.[1])
    .filter(Boolean)
    .map(Number)
  expect(referring.filter((number) => !numbers.includes(number))).toEqual([])
})

test("what is open is not decided as well", () => {
  const open = [...RULES.slice(RULES.indexOf("## Open")).matchAll(/^\| (?!-|what)(.+?) +\|/gm)].map(([, what]) => what)
  expect(open.length).toBeGreaterThan(0)
  expect(open.filter((what) => numbered.some(([, , asked]) => asked === what))).toEqual([])
})
