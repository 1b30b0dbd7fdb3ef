/** What a terminal gets, from the real process on a real pseudo terminal. */
import { expect, test } from "bun:test"
import { join } from "node:path"

const ESCAPE = "\u001b["

async function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const decoder = new TextDecoder()
  let screen = ""
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "rehearsal.ts"), ...args], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ...env },
    terminal: {
      cols: 50,
      rows: 20,
      data: (_terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true })
      },
    },
  })
  await child.exited
  return screen.replaceAll("\r\n", "\n")
}

test("a terminal gets colour, and a bar that is gone before the result", async () => {
  const screen = await onTerminal(["print"])
  expect(screen).toContain(`import  ${"█".repeat(24)} 100%  2 of 2 se…`)
  expect(screen).toEndWith(`\r${ESCAPE}2K${ESCAPE}31mline${ESCAPE}39m\n`)
})

test.each([
  ["NO_COLOR", ["print"], { NO_COLOR: "1" }],
  ["--no-color", ["print", "--no-color"], {}],
  ["a dumb terminal", ["print"], { TERM: "dumb" }],
] as const)("with %s there is no colour", async (_, args, env) => {
  const screen = await onTerminal(args, env)
  expect(screen).toEndWith("line\n")
  expect(screen).not.toContain("[31m")
})

test("with -q a terminal gets nothing but the result", async () => {
  expect(await onTerminal(["print", "-q"])).toBe(`${ESCAPE}31mline${ESCAPE}39m\n`)
})

test("help wraps to the width, and is never cut", async () => {
  const screen = await onTerminal(["--help", "--no-color"])
  expect(screen).toContain("--store URL     The store to use: a directory or\n                  a storage URL.\n")
  expect(screen).not.toContain("…")
})
