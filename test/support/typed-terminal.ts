/** pond on a terminal, by somebody who types once the screen shows what is waited for. */
import { POND } from "./bundled-pond.ts"

export interface Typist {
  readonly columns?: number
  readonly rows?: number
  readonly env: Readonly<Record<string, string>>
}

/** What the screen must show, of what was not seen by then, and what is typed after it: keys, or another size. */
export type TypedStep = readonly [shown: string, typed: string | readonly [columns: number, rows: number]]

export async function onTerminal(
  args: readonly string[],
  steps: readonly TypedStep[],
  { columns = 100, rows = 20, env }: Typist,
): Promise<{ readonly exitCode: number; readonly screen: string }> {
  const decoder = new TextDecoder()
  const waiting = [...steps]
  let screen = ""
  let seen = 0
  const child = Bun.spawn([process.execPath, POND, ...args], {
    env,
    terminal: {
      cols: columns,
      rows,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true })
        const [next] = waiting
        const at = next === undefined ? -1 : screen.indexOf(next[0], seen)
        if (next === undefined || at < 0) return
        waiting.shift()
        seen = screen.length
        if (typeof next[1] === "string") terminal.write(next[1])
        else terminal.resize(...next[1])
      },
    },
  })
  return { exitCode: await child.exited, screen: screen.replaceAll("\r\n", "\n") }
}
