/** Sessions that pages are judged by: one of texts that would run as markup, and one of ten thousand messages. */
import type { Entry } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { openSessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { HTML_ATTACKS } from "../../test/support/html-attacks.ts"

export const LONG_MESSAGES = 10_000

/** A screen further at each frame. */
export const SCROLLED = `new Promise((resolve) => {
  let [frames, slowest, last] = [0, 0, performance.now()]
  const step = (now) => {
    slowest = Math.max(slowest, now - last)
    last = now
    scrollBy(0, innerHeight)
    if (++frames < 60) requestAnimationFrame(step)
    else resolve(slowest)
  }
  requestAnimationFrame(step)
})`

function message(session: string, ordinal: number, text: string, role: "user" | "assistant"): Entry {
  const id = `m${ordinal}`
  const common = { session_id: session, message_id: id, provenance: "conversational", options: {} } as const
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, ordinal)).toISOString()
  const said = { ...common, id: "t", type: "text", text } as const
  const call_id = `c${ordinal}`
  const params = {
    file_path: `${text}.ts`,
    old_string: `const a = ${ordinal}`,
    new_string: `const b = ${ordinal}`,
    [text]: text,
  }
  const called = {
    ...common,
    id: "c",
    type: "tool_call",
    call_id,
    name: ordinal % 3 === 0 ? text : "Edit",
    params,
  } as const
  const result = { ...common, id: "r", type: "tool_result", call_id, is_failure: false, result: text } as const
  const own = { id, session_id: session, ordinal, timestamp, options: {} }
  if (role === "user") return { message: { ...own, role }, parts: [said] }
  return { message: { ...own, role }, parts: [said, { ...called, provider_executed: false }, result] }
}

const SHORT_TEXTS = [
  "Make the lamp glow at night.",
  "It **glows** from dusk on, and `lamp.ts` counts the hours. See [the notes](https://example.com/).\n\n- dusk\n- dawn",
  "Thanks. And in winter?",
  "The hours follow the sun:\n\n```ts\nconst hours = sunset - sunrise\n```",
]

export async function fillJudgedStore(path: string): Promise<void> {
  const store = openStore(parseLocation(path, { environment: {} }), {
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
  })
  const sessions = openSessions(store, { clock: systemClock, host: "judge" })
  const about = {
    source_agent: "claude-code",
    created_at: "2026-01-01T00:00:00.000Z",
    project: "/home/someone/shop",
    options: {},
  }
  const paragraph =
    "The cart **rounds** each price, and `total` adds them up. See [the notes](https://example.com/).\n\n"
  await sessions.write([
    {
      session: { ...about, id: "short", title: "A lamp for the pond" },
      entries: SHORT_TEXTS.map((text, at) => message("short", at, text, at % 2 === 0 ? "user" : "assistant")),
    },
    {
      session: { ...about, id: "attacked", title: HTML_ATTACKS[0] ?? "" },
      entries: HTML_ATTACKS.map((text, at) => message("attacked", at, text, at % 2 === 0 ? "user" : "assistant")),
    },
    {
      session: { ...about, id: "long", title: "Ten thousand messages" },
      entries: Array.from({ length: LONG_MESSAGES }, (_, at) =>
        message("long", at, paragraph.repeat(3), at % 2 === 0 ? "user" : "assistant"),
      ),
    },
  ])
  store.close()
}
