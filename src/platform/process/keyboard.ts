/**
 * Keys as they are pressed, for the few places where pond is more than a line of output. While it is open the terminal
 * echoes nothing and Ctrl-C is a key; when it is closed everything is as it was, and stdin is free for another program.
 */
export type Key =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: NamedKey }
  /** A letter with Ctrl that means nothing else. */
  | { readonly kind: "control"; readonly letter: string }
  /** No key: the terminal has another size. */
  | { readonly kind: "resized" }

/** `quit` is Ctrl-C, and the end of the input. */
type NamedKey = Motion | "enter" | "tab" | "leave" | "quit" | "delete" | "clear"
type Motion = "up" | "down" | "left" | "right" | "page_up" | "page_down" | "home" | "end"

export interface Keyboard {
  /** The next keys; `quit` when the input ends or the signal comes. */
  next(): Promise<readonly Key[]>
  close(): void
}

const SEQUENCES: Readonly<Record<string, NamedKey>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u0010": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u000e": "down",
  "\u001b[D": "left",
  "\u001bOD": "left",
  "\u001b[C": "right",
  "\u001bOC": "right",
  "\u001b[H": "home",
  "\u001bOH": "home",
  "\u001b[1~": "home",
  "\u001b[F": "end",
  "\u001bOF": "end",
  "\u001b[4~": "end",
  "\t": "tab",
  "\u001b[5~": "page_up",
  "\u001b[6~": "page_down",
  "\r": "enter",
  "\n": "enter",
  "\u001b": "leave",
  "\u0003": "quit",
  "\u0004": "leave",
  "\u007f": "delete",
  "\b": "delete",
  "\u0015": "clear",
}

/** An escape sequence, one control character, or text up to the next of them. */
const PIECES = new RegExp(["\\u001b(?:\\[[0-9;]*[A-Za-z~]|O[A-Za-z])?", "\\p{Cc}", "\\P{Cc}+"].join("|"), "gu")

/** What was pressed; a key that means nothing here is no key. */
export function keysOf(typed: string): Key[] {
  return (typed.match(PIECES) ?? []).flatMap((piece): Key[] => {
    const kind = SEQUENCES[piece]
    if (kind !== undefined) return [{ kind }]
    const code = piece.charCodeAt(0)
    if (code >= 0x20) return [{ kind: "text", text: piece }]
    return code >= 1 && code <= 26 ? [{ kind: "control", letter: String.fromCharCode(code + 0x60) }] : []
  })
}

/** Of an escape sequence, behind the escape. */
const BEGUN = /^(?:\[[0-9;]*|O)?$/
/** So long the rest of it may take. Escape alone is a key. */
const BEGUN_MS = 100

/** The beginning of an escape sequence, of which a slow line may bring the rest later. */
export function begunIn(typed: string): string {
  const at = typed.lastIndexOf("\u001b")
  return at >= 0 && BEGUN.test(typed.slice(at + 1)) ? typed.slice(at) : ""
}

const RESIZED: readonly Key[] = [{ kind: "resized" }]
const QUIT: readonly Key[] = [{ kind: "quit" }]

export function openKeyboard(signal: AbortSignal): Keyboard {
  const { stdin } = process
  const decoder = new TextDecoder()
  let waiting: readonly Key[] = []
  let wake: (() => void) | undefined
  const take = (keys: readonly Key[]) => {
    waiting = [...waiting, ...keys]
    wake?.()
  }
  let begun = ""
  let patience: ReturnType<typeof setTimeout> | undefined
  const takeBegun = () => {
    const keys = keysOf(begun)
    begun = ""
    take(keys)
  }
  const onBytes = (bytes: Uint8Array) => {
    clearTimeout(patience)
    const typed = begun + decoder.decode(bytes, { stream: true })
    begun = begunIn(typed)
    if (begun !== "") patience = setTimeout(takeBegun, BEGUN_MS)
    take(keysOf(typed.slice(0, typed.length - begun.length)))
  }
  const onEnd = () => take(QUIT)
  const onResized = () => take(RESIZED)
  stdin.setRawMode(true)
  stdin.on("data", onBytes)
  stdin.on("end", onEnd)
  signal.addEventListener("abort", onEnd)
  process.stdout.on("resize", onResized)
  stdin.resume()
  if (signal.aborted) onEnd()
  return {
    next: async () => {
      while (waiting.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
      const keys = waiting
      waiting = []
      return keys
    },
    close: () => {
      clearTimeout(patience)
      process.stdout.off("resize", onResized)
      stdin.off("data", onBytes)
      stdin.off("end", onEnd)
      signal.removeEventListener("abort", onEnd)
      stdin.setRawMode(false)
      stdin.pause()
    },
  }
}
