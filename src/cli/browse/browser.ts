/**
 * Sessions on a whole screen: a list that is filtered by typing, a session to read and to search in, a client to choose. It
 * ends with a wish (a session to continue, perhaps in another client) or with nothing, and can be shown again as it was.
 */
import { visible } from "../../model/visible.ts"
import type { Key, Keyboard } from "../../platform/process/keyboard.ts"
import type { TextSink } from "../../platform/process/streams.ts"
import type { Style } from "../render/style.ts"
import { cutToWidth, wrapToWidth } from "../render/table.ts"
import { createListView, type ListParts } from "./list-view.ts"
import { BACK, type Later, type ScreenSize, STAY, type View, type Wish } from "./view.ts"

/** A screen and its keys. */
export interface InteractiveScreen {
  readonly keyboard: Keyboard
  readonly out: TextSink
  readonly style: Style
}

export interface Browser {
  /** Until something is wished for; nothing where the user left. The terminal is then as it was before. */
  show(message?: string): Promise<Wish | undefined>
  /** Stops what is still waited for. */
  close(): void
}

const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l"
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l"
const HOME = "\u001b[H"
const CLEAR_TO_END = "\u001b[K"

export function createBrowser({ open, ...parts }: ListParts & { readonly open: () => InteractiveScreen }): Browser {
  const work = createPendingWork()
  const views: View[] = [createListView(parts, work.later)]
  const leave = () => {
    for (const view of views.splice(0)) view.close()
  }

  let note = ""

  async function run(screen: InteractiveScreen): Promise<Wish | undefined> {
    let typed: ReturnType<Keyboard["next"]> | undefined
    let last = ""
    for (;;) {
      const woken = work.next()
      const view = views.at(-1)
      if (view === undefined) return undefined
      const { size, text } = drawn(view, screen, note)
      if (text !== last) screen.out.write(text)
      last = text
      typed ??= screen.keyboard.next()
      const keys = await Promise.race([typed, woken])
      if (keys === undefined) continue
      typed = undefined
      for (const key of keys) {
        const wish = press(key, size, screen)
        if (wish !== undefined) return wish
      }
    }
  }

  function press(key: Key, size: ScreenSize, { out }: InteractiveScreen): Wish | undefined {
    if (key.kind === "quit") leave()
    const step = views.at(-1)?.press(key, size) ?? STAY
    note = ""
    if (step.kind === "back" || (step.kind === "wish" && step.isAnswer === true)) views.pop()?.close()
    if (step.kind === "open") views.push(step.view)
    if (step.kind === "copy") {
      out.write(clipboard(step.text))
      note = `Copied ${step.text}, if the terminal allows it.`
    }
    return step.kind === "wish" ? step.wish : undefined
  }

  return {
    show: async (message) => {
      if (message !== undefined) views.push(createMessageView(message))
      const screen = open()
      screen.out.write(ENTER_SCREEN)
      try {
        return await run(screen)
      } finally {
        screen.out.write(LEAVE_SCREEN)
        screen.keyboard.close()
      }
    },
    close: leave,
  }
}

function drawn(view: View, { out, style }: InteractiveScreen, note: string) {
  const { columns = 80, rows = 24 } = out
  const size: ScreenSize = { columns, rows }
  view.prepare(size)
  const lines = view.screen(size, style, note)
  return { size, text: `${HOME}${lines.map((line) => `${line}${CLEAR_TO_END}`).join("\r\n")}` }
}

/** What views wait for: applied when it comes, whether the screen is shown then or not. */
function createPendingWork(): { readonly later: Later; readonly next: () => Promise<undefined> } {
  let failure: { readonly error: unknown } | undefined
  let woken = Promise.withResolvers<undefined>()
  const settle = (done: () => void) => {
    done()
    woken.resolve(undefined)
  }
  return {
    later: (work) => {
      void work.then(settle, (error: unknown) =>
        settle(() => {
          failure ??= { error }
        }),
      )
    },
    /** Once anything came; throws what went wrong. */
    next: () => {
      if (failure !== undefined) throw failure.error
      woken = Promise.withResolvers()
      return woken.promise
    },
  }
}

/** A terminal that allows it puts the text on the clipboard, also from another machine (OSC 52). */
function clipboard(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`
}

/** What cannot be said in one line; any key leads back. */
function createMessageView(message: string): View {
  return {
    screen: ({ columns, rows }, style) => {
      const lines = visible(message)
        .split("\n")
        .flatMap((line) => wrapToWidth(line, columns - 1))
        .map((line) => cutToWidth(line, columns - 1))
      const shown = ["", ...lines].slice(0, rows - 1)
      const blank = Array<string>(rows - 1 - shown.length).fill("")
      return [...shown, ...blank, style.dim("Any key: back")]
    },
    prepare: () => undefined,
    press: ({ kind }) => (kind === "resized" ? STAY : BACK),
    close: () => undefined,
  }
}
