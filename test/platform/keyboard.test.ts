import { expect, test } from "bun:test"
import { join } from "node:path"

const KEYBOARD = join(import.meta.dir, "../../src/platform/process/keyboard.ts")
const FIRST_KEYS = `
const { openKeyboard } = await import(${JSON.stringify(KEYBOARD)})
const keyboard = openKeyboard(AbortSignal.abort())
console.log(JSON.stringify(await keyboard.next()))
keyboard.close()
`

test("who interrupted before there was a keyboard has left", async () => {
  let shown = ""
  const child = Bun.spawn([process.execPath, "-e", FIRST_KEYS], {
    terminal: {
      data: (_, bytes) => {
        shown += new TextDecoder().decode(bytes)
      },
    },
    timeout: 10_000,
  })
  expect(await child.exited).toBe(0)
  expect(shown.trim()).toBe('[{"kind":"quit"}]')
})
