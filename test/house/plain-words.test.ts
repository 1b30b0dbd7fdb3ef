/**
 * What people read is plain English, as in `gh`, `git` and `restic`. Each phrase below was once in a message or a help text,
 * and puzzled the people who read it. Only string literals of `src` are searched; comments are for review.
 */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { stringLiterals } from "./string-literals.ts"

const SRC = join(import.meta.dir, "../../src")

const BANNED: readonly (readonly [phrase: RegExp, better: string])[] = [
  [/where (nothing is said|none is named)/i, '"(default: …)"'],
  [/\bwho cannot\b/i, "name who"],
  [/\bwhat (of|becomes of|became of)\b/i, "say what it is about"],
  [/\bis as if\b/i, "say what happens"],
  [/\bthere are none\b/i, '"no …"'],
  [/\b(is|are|was|were) there (already|before)\b/i, '"already exists"'],
  [/\b(is|are) not there\b/i, '"does not exist"'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|[a-z]+ (?:in|for|with)\b)[a-z]/i, '"is not a …"'],
  [/\bgo(es)? on (with|behind|where|from)\b/i, '"continue", "resume"'],
  [/\bto the letter\b/i, '"exact text"'],
  [/\bholds (nothing|no)\b/i, '"is empty", "contains no"'],
  [/\bof pond's\b/i, '"pond\'s …" or "supported"'],
  [/\b(knows?|tells?|told) (no )?(pond|MCP)\b|\btell .* of pond\b/i, '"is set up in", "supports"'],
  [/\bsyncs? (no more )?by itself\b/i, '"automatic sync"'],
  [/\bmend(s|ed|ing)?\b/i, '"fix"'],
  [/(?<!--|isA)\banew\b/i, '"again", "new"'],
  [/\bone word too many\b/i, '"unexpected argument"'],
  [/\bhow (things|it) (stand|went)\b.*:/i, '"state"'],
  [/\bis not right\b/i, '"invalid"'],
  [/\bexchange the two\b/i, '"swap them"'],
  [/\brehearsal\b/i, '"dry run"'],
  [/\bfault of pond\b/i, '"bug in pond"'],
  [/\bnot (all of it |quite )?whole\b|\bis whole\b/i, '"intact", "complete"'],
  [/\b(Run|Do) the same again\b/, '"try again"'],
  [/\bdoes not know\b.*\b(way|pond)\b/i, '"unexpectedly"'],
  [/\bMake room\b/i, '"free some space"'],
  [/\bthe archive (file)?\b.*\b(pond export|import)\b/i, '"export file"'],
  [/\bpond (has|knows|reads) no\b/i, '"unknown …"'],
  [/\bfor reading alone\b/i, '"read-only"'],
  [/\bNothing (was|is) (found|done|stored of)\b/, '"No matches", "No changes made"'],
]

test("no message or help text has a phrase that people stumble over", () => {
  const found: string[] = []
  for (const file of new Glob("**/*.ts").scanSync(SRC)) {
    for (const { line, text } of stringLiterals(readFileSync(join(SRC, file), "utf8"))) {
      for (const [phrase, better] of BANNED) {
        const [words] = phrase.exec(text) ?? []
        if (words !== undefined) found.push(`src/${file}:${line}: "${words}", better ${better}`)
      }
    }
  }
  expect(found).toEqual([])
})

test("the scanner reads strings and templates, and neither comments nor patterns", () => {
  const source = [
    'const a = "one \\" two" // "not this"',
    `/* nor \`this\` */ const b = \`three \${c ? \`four \${d}\` : "five"} six\``,
    'const e = /["`]/.test("seven")',
    "const f = g / 2 / h",
  ].join("\n")
  const texts = stringLiterals(source).map(({ text }) => text)
  expect(texts).toEqual(['one \\" two', "four …", "five", "three … six", "seven"])
})
