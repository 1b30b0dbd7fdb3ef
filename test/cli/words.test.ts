import { expect, test } from "bun:test"
import { flag } from "../../src/cli/flags.ts"
import { readInvocation } from "../../src/cli/frame/parse-arguments.ts"
import { proseText } from "../../src/cli/render/home-paths.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import { cutToWidth, renderTable, wrapProse, wrapToWidth } from "../../src/cli/render/table.ts"
import { PondError } from "../../src/model/errors.ts"
import { visible, visibleLine } from "../../src/model/visible.ts"

// --- Flags ----------------------------------------------------------------------------

const FLAGS = {
  limit: flag.wholeNumber("", { min: 1, max: 100 }),
  score: flag.decimal("", { min: -1 }),
  mode: flag.choice("", ["auto", "words", "meaning"]),
  only: flag.choices("", ["import", "embed"]),
  host: flag.texts("", "HOST"),
  output: flag.text("", "FILE", { short: "o" }),
  timeout: flag.durationMs(""),
  force: flag.onOff("", { short: "f" }),
  quick: flag.onOff("", { short: "k" }),
}
const MANY = [{ name: "word", summary: "words.", count: "many" }] as const
const ABSENT = { only: [], host: [], force: false, quick: false }

function check(line: string, values: Record<string, unknown>, words: readonly string[] = []) {
  const read = readInvocation(line.split(" ").filter(Boolean), FLAGS, MANY)
  const given = Object.fromEntries(Object.entries(read.values).filter(([, value]) => value !== undefined))
  expect({ line, given, words: read.words }).toEqual({ line, given: { ...ABSENT, ...values }, words })
}

test("nothing given is nothing meant", () => check("", {}))
test("a value may stand beside its flag or behind an equals sign", () => {
  check("--limit 5", { limit: 5 })
  check("--limit=5", { limit: 5 })
})
test("the last of two counts, unless the flag may be repeated", () => {
  check("--limit 5 --limit 6", { limit: 6 })
  check("--only embed --only import --host a --host b", { only: ["embed", "import"], host: ["a", "b"] })
})
test("short flags stand alone, together, and with their value", () => {
  check("-f -o out.json", { force: true, output: "out.json" })
  check("-fk", { force: true, quick: true })
})
test("after -- everything is a word", () => check("a -- --limit -f", {}, ["a", "--limit", "-f"]))
test("a lone dash is a word, and a value", () => check("-o - -", { output: "-" }, ["-"]))
test("a negative number is a value", () => check("--score -0.5", { score: -0.5 }))
test("a time has a unit", () => check("--timeout 1.5s", { timeout: 1500 }))
test("a value that looks like a flag is given with an equals sign", () => check("--output=--odd", { output: "--odd" }))

function refuse(line: string, message: string) {
  const read = () => readInvocation(line.split(" "), FLAGS, [])
  expect(read).toThrow(new PondError("validation_failed", message))
}

test("a value out of bounds or of the wrong kind is named with what was wanted", () => {
  refuse("--limit 0", '--limit must be a whole number from 1 to 100, not "0".')
  refuse("--limit 1e1", '--limit must be a whole number from 1 to 100, not "1e1".')
  refuse("--limit 99999999999999999999", '--limit must be a whole number from 1 to 100, not "99999999999999999999".')
  refuse("--score x", '--score must be a number of at least -1, not "x".')
  refuse("--mode wrods", '--mode must be one of auto, words, meaning, not "wrods". Did you mean words?')
  refuse("--only sync", '--only must be one of import, embed, not "sync".')
  refuse("--timeout 5", '--timeout must be a time such as 500ms, 30s, 5m, 2h or 7d, not "5".')
})

// --- Text -----------------------------------------------------------------------------

test("what could act on a terminal is shown as a sign of itself", () => {
  const rows: readonly (readonly [text: string, shown: string])[] = [
    ["plain, ünïcödé, 日本, 👩‍👩‍👧", "plain, ünïcödé, 日本, 👩‍👩‍👧"],
    ["tab\tand\nline", "tab\tand\nline"],
    ["windows\r\nline", "windows\nline"],
    ["\u001b]0;title\u0007", "␛]0;title␇"],
    ["over\rwritten", "over␍written"],
    ["\u009b31m", "<U+009B>31m"],
    ["\u007f", "␡"],
    ["abc\u202etxt.exe", "abc<U+202E>txt.exe"],
    ["half \ud83d here", "half <U+D83D> here"],
    ["\u{e0041}", "<U+E0041>"],
    ["zero\u200bwidth\u2060\u00ad\u{e0101}", "zero<U+200B>width<U+2060><U+00AD><U+E0101>"],
    ["be\u200dtween\u200c", "be<U+200D>tween<U+200C>"],
    ["می\u200cخواهم, क्\u200dष, ❤\ufe0f, x\ufe01", "می\u200cخواهم, क्\u200dष, ❤\ufe0f, x<U+FE01>"],
  ]
  expect(rows.map(([text]) => visible(text))).toEqual(rows.map(([, shown]) => shown))
})

test("a cell is one line", () => expect(visibleLine("  a\n\n  b\tc ")).toBe("a b c"))

test("text is cut between characters, at the width a terminal gives them", () => {
  expect(cutToWidth("日本語", 6)).toBe("日本語")
  expect(cutToWidth("日本語", 5)).toBe("日本…")
  expect(cutToWidth("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…")
  expect(wrapToWidth("one two three", 7)).toEqual(["one two", "three"])
})

test("a table fits its width: the widest column gives way, a fixed one last", () => {
  const columns = [{ title: "id", isFixed: true }, { title: "text" }, { title: "n", align: "right" }] as const
  const rows = [["abcdefgh", "a long text that has to give way", "7"]]
  const look = (width: number) => renderTable(columns, rows, { columns: width, head: (text) => text })
  expect(look(Number.POSITIVE_INFINITY)).toBe(
    "id        text                              n\nabcdefgh  a long text that has to give way  7\n",
  )
  expect(look(24)).toBe("id        text         n\nabcdefgh  a long tex…  7\n")
})

test("prose is broken between words, and goes on under its beginning", () => {
  expect(wrapProse("fault  one: a word that is too long\nnote  two: short", 26)).toBe(
    "fault  one: a word that is\n  too long\nnote  two: short",
  )
  // It lost the indent, and its length of the text behind the first line stood twice.
  expect(wrapProse("  Codex: it asks at its next start", 26, "    ")).toBe("  Codex: it asks at its\n    next start")
})

test("the home directory is ~ in prose, and what only looks like it is not", () => {
  const said = (text: string) => proseText(text, "/home/you")
  expect(said("/home/you/a is there, and /home/you.")).toBe("~/a is there, and ~.")
  expect(said("/home/yours/a and /mnt/home/you/a")).toBe("/home/yours/a and /mnt/home/you/a")
  expect(proseText("/root/a", "/")).toBe("/root/a")
})

test("what is painted is read on white as on black: no yellow, nothing bright, no grey of its own", () => {
  const style = createStyle(true)
  const painted = Object.values(style).map((paint) => paint("x"))
  const codes =
    painted
      .join("")
      .match(/\d+(?=m)/g)
      ?.map(Number) ?? []
  expect(codes.length).toBe(2 * painted.length)
  expect(codes.filter((code) => code === 33 || code === 37 || code === 30 || code >= 90)).toEqual([])
})
