/** Sessions on a whole screen: what it shows for what was typed, and `pond browse` in a real terminal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import {
  afterKey,
  type Choice,
  chosen,
  type ListState,
  listScreen,
  withChoices,
} from "../../src/cli/browse/list-screen.ts"
import {
  afterReaderKey,
  type ReaderState,
  readerScreen,
  wantsMore,
  withLines,
} from "../../src/cli/browse/reader-screen.ts"
import { createStyle } from "../../src/cli/render/style.ts"
import { begunIn, keysOf } from "../../src/platform/process/keyboard.ts"
import { runPond, type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { onTerminal, type TypedStep } from "../support/typed-terminal.ts"

const plain = createStyle(false)
const choice = (number: number, title = `title ${number}`): Choice => ({
  id: `id-${number}`,
  title,
  about: ["today", "pi", "~/work"],
})
const start: ListState = { choices: [1, 2, 3].map((number) => choice(number)), query: "", at: 0 }
const pressed = (typed: string, from = start) => keysOf(typed).reduce(afterKey, from)

describe("keys", () => {
  test("are told from text, whatever arrives together", () => {
    expect(keysOf("ab\u001b[Ac\r\u001b\u0003\u001b[99X\u0019\t\u001b[C\u0000")).toEqual([
      { kind: "text", text: "ab" },
      { kind: "up" },
      { kind: "text", text: "c" },
      { kind: "enter" },
      { kind: "leave" },
      { kind: "quit" },
      { kind: "control", letter: "y" },
      { kind: "tab" },
      { kind: "right" },
    ])
  })

  test.each([
    ["ab\u001b", "\u001b"],
    ["\u001b[A\u001b[", "\u001b["],
    ["\u001b[5", "\u001b[5"],
    ["\u001bO", "\u001bO"],
    ["\u001b[A", ""],
    ["\u001ba", ""],
  ])("of %j, %j may be the beginning of a key", (typed, begun) => {
    expect(begunIn(typed)).toBe(begun)
  })
})

describe("the list", () => {
  test.each([
    ["\u001b[B", "id-2"],
    ["\u001b[B\u001b[B\u001b[B\u001b[B", "id-3"],
    ["\u001b[B\u001b[A\u001b[A", "id-1"],
    ["\u001b[6~", "id-3"],
    ["\u001b[F", "id-3"],
    ["\u001b[F\u001b[H", "id-1"],
    ["3", "id-3"],
    ["TITLE 2", "id-2"],
    ["work 2", "id-2"],
    ["no such\u0015", "id-1"],
    ["3\u007f2", "id-2"],
    ["é", undefined],
  ])("after the keys %j has %s under its cursor", (typed, id) => {
    expect(chosen(pressed(typed))?.id).toBe(id as string)
  })

  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [200, 60],
  ])("fills a screen of %d columns and %d rows, and no more", (columns, rows) => {
    const many = Array.from({ length: 100 }, (_, number) =>
      choice(number, `${"a long title 漢字 ".repeat(9)}${number}`),
    )
    const look = { style: plain, columns, rows, prompt: "Resume", preview: ["x".repeat(300)], hint: "y".repeat(300) }
    for (const state of [
      { choices: many, query: "", at: 99 },
      { ...start, query: "none" },
    ]) {
      const screen = listScreen(state, look)
      expect(screen).toHaveLength(rows)
      expect(Math.max(...screen.map((line) => Bun.stringWidth(line)))).toBeLessThan(columns)
    }
    expect(listScreen({ choices: many, query: "", at: 99 }, look).filter((line) => line.startsWith(">"))).toHaveLength(
      1,
    )
  })

  const look = { style: plain, columns: 60, rows: 20, prompt: "Resume", preview: [], hint: "" }

  test("stands in columns, and of a path that is too long the end is shown", () => {
    const choices = [
      choice(1),
      { ...choice(2, "two"), about: ["yesterday", "claude-code", `/${"deep/".repeat(20)}pond`] },
    ] as const
    expect(listScreen({ choices, query: "", at: 0 }, look).slice(2, 4)).toEqual([
      ">     today  title…  pi           ~/work",
      "  yesterday  two     claude-code  …deep/deep/deep/deep/pond",
    ])
  })

  test("has the sessions in which it was said behind those whose line has it, each once", () => {
    const found = { query: "two", choices: [choice(3), choice(2, "two")] }
    const state = { ...start, choices: [choice(1), choice(2, "two"), choice(3)], query: "two", found }
    const screen = listScreen(state, look)
    expect(screen[1]).toBe("2 of 3, 1 of them by what was said")
    expect(screen.slice(2, 5).map((line) => line.trim().split(/\s{2,}/)[1])).toEqual([
      "two",
      "title 3",
      undefined as never,
    ])
    // Of another query nothing was found yet.
    expect(listScreen({ ...state, query: "three" }, look)[1]).toBe("0 of 3")
    const growing = (query: string) => listScreen({ choices: [], query, at: 0, isGrowing: true }, look)[2]
    expect([growing(""), growing("three")]).toEqual(["  Loading…", "  Nothing matches yet."])
  })

  test("keeps its cursor on the session that it is on, wherever others come in", () => {
    const moved = withChoices({ ...start, at: 1 }, { choices: [choice(9), choice(8), ...start.choices] })
    expect(chosen(moved)?.id).toBe("id-2")
  })
})

describe("the reader", () => {
  const rows = 12
  const lines = Array.from({ length: 40 }, (_, number) => `line ${number}${number % 10 === 7 ? " needle" : ""}`)
  const book: ReaderState = { title: "A book", lines, isComplete: true, top: 0 }
  const read = (typed: string, from = book) =>
    keysOf(typed).reduce((state, key) => afterReaderKey(state, key, rows), from)

  test.each([
    ["\u001b[B\u001b[B", 2],
    ["jjk", 1],
    [" ", 7],
    [" b", 0],
    ["G", 31],
    ["\u001b[F\u001b[H", 0],
    ["gG ", 31],
    ["\u001b[6~\u001b[5~", 0],
  ])("after the keys %j begins with line %d", (typed, top) => {
    expect(read(typed).top).toBe(top)
  })

  test.each([
    ["/needle\r", 7],
    ["/NEEDLE\rn", 17],
    ["/needle\rnnn", 37],
    ["/needle\rnnnnn", 37],
    ["/needle\rnnN", 17],
    ["/nothing\r", undefined],
    ["/nee\u001b", undefined],
    ["/xx\u007f\u007fneedle\r", 7],
  ])("after the keys %j stands at the match in line %p", (typed, at) => {
    expect(read(typed).search?.at).toBe(at as number)
  })

  test("searches on in what comes later, and reads on only as far as it is wanted", () => {
    const begun: ReaderState = { title: "A book", lines: lines.slice(0, 5), isComplete: false, top: 0 }
    const waiting = read("/needle\r", begun)
    expect(wantsMore(waiting)).toBe(true)
    const more = withLines(waiting, lines.slice(5, 12), rows)
    expect(more.search).toMatchObject({ at: 7 })
    const long = { ...begun, lines: Array.from({ length: 300 }, () => "x") }
    expect(wantsMore(long)).toBe(false)
    const toEnd = read("G", long)
    expect(wantsMore(toEnd)).toBe(true)
    expect(withLines(withLines(toEnd, ["last"], rows), "end", rows).top).toBe(301 - 9)
  })

  test.each([
    [80, 24],
    [20, 5],
    [8, 5],
  ])("fills a screen of %d columns and %d rows, and no more", (columns, height) => {
    const wide = {
      ...book,
      title: "漢字 ".repeat(99),
      lines: lines.map((line) => `\u001b[1m${line.repeat(30)}\u001b[22m`),
    }
    const screen = readerScreen(wide, { style: plain, columns, rows: height, hint: "y".repeat(300) })
    expect(screen).toHaveLength(height)
    expect(Math.max(...screen.map((line) => Bun.stringWidth(line)))).toBeLessThan(columns)
  })

  test("marks what was searched for, and says where it stands", () => {
    const screen = readerScreen(read("/needle\r"), { style: createStyle(true), columns: 40, rows, hint: "" })
    expect(Bun.stripANSI(screen[0] ?? "")).toBe("A book      match in line 8  5-13 of 40")
    expect(screen).toContain("\u001b[35m>\u001b[39mline 7 \u001b[1m\u001b[31mneedle\u001b[39m\u001b[22m")
  })
})

describe("pond browse", () => {
  let home: TemporaryHome
  let env: Record<string, string>
  const work = () => join(home.path, "work")
  const client = (name: string, code: number) => {
    const path = join(home.path, "bin", name)
    writeFileSync(path, `#!/bin/sh\necho "${name} in $(pwd): $*"\nread answer\necho "it read $answer"\nexit ${code}\n`)
    chmodSync(path, 0o755)
  }

  beforeAll(async () => {
    home = temporaryHome()
    writeDemo(home.path)
    mkdirSync(join(home.path, "bin"))
    mkdirSync(work())
    client("claude", 7)
    client("codex", 0)
    env = { ...home.env, TERM: "xterm", NO_COLOR: "1", PATH: `${join(home.path, "bin")}:${process.env["PATH"] ?? ""}` }
    expect(await runPond(["sync", "-q"], { env })).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => home[Symbol.dispose]())

  const browse = (args: readonly string[], steps: readonly TypedStep[], columns = 80) =>
    onTerminal(["browse", ...args], steps, { env, columns, rows: 24 })

  test("finds by what was said, reads there, searches on, and comes back to the list as it was", async () => {
    const { exitCode, screen } = await browse(
      [],
      [
        ["Orders are sometimes", "idempotency"],
        ["1 of them by what was said", "\r"],
        ["match in line", "/twice\r"],
        ["twice", "q"],
        ["Sessions idempotency", "\u001b"],
      ],
    )
    expect(screen).toContain("I pass the order id as the key")
    expect(exitCode).toBe(0)
    expect(screen).toEndWith("\u001b[?1049l")
  })

  test("resumes in another client, and is there again when that one ends", async () => {
    const { exitCode, screen } = await browse(
      ["webpack"],
      [
        ["1 of 3", "\u0014"],
        ["Claude Code", "codex"],
        ["> ", "\r"],
        ["does not exist here. Resume it in", "y\r"],
        ["codex in", "yes\r"],
        ["Sessions webpack", "\u0003"],
      ],
    )
    expect(screen).toContain("it read yes")
    expect(exitCode).toBe(0)
    expect(screen).not.toContain("it read yes\nit read")
  })

  test("what cannot be is said on the screen, and any key leads back", async () => {
    const { exitCode, screen } = await browse(
      ["charged"],
      [
        ["1 of 3", "\u0012"],
        ["does not exist here. Resume it in", "n\r"],
        ["Any key: back", "x"],
        ["Sessions charged", "\u001b"],
      ],
    )
    expect(Bun.stripANSI(screen).replace(/\s+/g, " ")).toContain("Choose a directory: pond resume de300001-")
    expect(exitCode).toBe(0)
  })

  test.each([80, 120])("copies an id, stars a session and uses the width, at %d columns", async (columns) => {
    const { screen } = await browse(
      ["charged"],
      [
        ["1 of 3", "\u0019"],
        ["Copied de300001", "\u0013"],
        ["★ Orders", "\u0013"],
        ["Orders", "\u001b"],
      ],
      columns,
    )
    const copied = /\]52;c;([A-Za-z0-9+/=]+)/.exec(screen)?.[1] ?? ""
    expect(Buffer.from(copied, "base64").toString()).toBe("de300001-0000-4000-8000-000000000000")
    expect(screen).toContain("Orders are sometimes charged twice. Find")
    const wide = /charged twice\. Find out how that can happen\. +claude-code {2}\/home\/you\/shop/
    expect(wide.test(screen)).toBe(columns === 120)
  })

  test("takes the filters of a list, and needs a terminal", async () => {
    const { screen } = await browse(["--project", "blog"], [["1 of 1", "\u001b"]])
    expect(screen).not.toContain("Orders are")
    const none = await browse(["--project", "nowhere"], [])
    expect(none).toMatchObject({ exitCode: 3 })
    expect(none.screen).toContain("No session matches.")
    const piped = await runPond(["browse"], { env })
    expect(piped).toMatchObject({ exitCode: 2, stdout: "" })
    expect(piped.stderr).toBe("pond: pond browse needs a terminal. `pond list` prints sessions.\n")
  })
})
