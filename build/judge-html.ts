/**
 * `bun run judge:html`: the page of a session as a real browser has it. Texts that would run where a page took them for markup
 * must do nothing, and a session of ten thousand messages must open soon. Needs Chromium (`apt-get install chromium`, or
 * its path in CHROMIUM). The browser has no network to speak of: each page is a file.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Entry } from "../src/model/session.ts"
import { systemClock } from "../src/platform/host/clock.ts"
import { silentLog } from "../src/platform/host/log.ts"
import { systemRandom } from "../src/platform/host/random.ts"
import { openSessions } from "../src/sessions/store.ts"
import { parseLocation } from "../src/substrate/location.ts"
import { openStore } from "../src/substrate/open-store.ts"
import { HTML_ATTACKS } from "../test/support/html-attacks.ts"
import { startBrowser, type Tab } from "./lib/browser.ts"
import { type Outcome, printOutcome } from "./lib/outcome.ts"
import { pondCommand } from "./lib/timed-run.ts"

const MESSAGES = 10_000
const OPENS_WITHIN_MS = 2000

const OWN_TAGS =
  "header h1 h3 h4 h5 h6 dl dt dd main article a time p ul ol li pre code span details summary b em small strong del blockquote table thead tbody tr th td hr img div nav svg rect footer script input output button"

/** A screen further at each frame. */
const SCROLLED = `new Promise((resolve) => {
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

const folder = mkdtempSync(join(tmpdir(), "pond-html-"))
try {
  await fillStore(join(folder, "store"))
  await using browser = await startBrowser(folder)
  const outcomes = [await attacked(await browser.tab()), await opensSoon(await browser.tab())]
  outcomes.forEach(printOutcome)
  process.exitCode = outcomes.every(({ isRight }) => isRight) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

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

async function fillStore(path: string): Promise<void> {
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
      session: { ...about, id: "attacked", title: HTML_ATTACKS[0] ?? "" },
      entries: HTML_ATTACKS.map((text, at) => message("attacked", at, text, at % 2 === 0 ? "user" : "assistant")),
    },
    {
      session: { ...about, id: "long", title: "Ten thousand messages" },
      entries: Array.from({ length: MESSAGES }, (_, at) =>
        message("long", at, paragraph.repeat(3), at % 2 === 0 ? "user" : "assistant"),
      ),
    },
  ])
  store.close()
}

async function pageOf(session: string): Promise<string> {
  const path = join(folder, `${session}.html`)
  const command = [...pondCommand(), "get", session, "-o", path, "--store", join(folder, "store"), "-q"]
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdout: "ignore",
    stderr: "inherit",
  })
  if ((await child.exited) !== 0) throw new Error(`pond get ${session} failed`)
  return path
}

async function attacked(tab: Tab): Promise<Outcome> {
  await tab.open(`file://${await pageOf("attacked")}`)
  // Whatever waits for a pointer, a key or a fold is given one.
  await tab.value(`for (const each of document.querySelectorAll("*")) {
    if (each.tagName === "DETAILS") each.open = true
    if (each.tagName === "A") continue
    for (const name of ["mouseover", "focus", "click", "toggle"]) each.dispatchEvent(new Event(name, { bubbles: true }))
  }`)
  const isRun = await tab.value<boolean>("document.documentElement.dataset.hit !== undefined")
  const isAlive = await tab.value<boolean>('document.querySelector("#find input") !== null')
  const foreign = await tab.value<string[]>(
    `[...new Set([...document.querySelectorAll("body *")].map((each) => each.tagName.toLowerCase()))].filter((tag) => !"${OWN_TAGS}".split(" ").includes(tag))`,
  )
  const links = await tab.value<string[]>(
    '[...document.links].map((link) => link.protocol).filter((protocol) => !["file:", "http:", "https:", "mailto:"].includes(protocol))',
  )
  const what = `${HTML_ATTACKS.length} texts that would run as markup`
  const found = `${isRun ? "one ran" : "none ran"}; foreign elements: ${foreign.join(", ") || "none"}; links elsewhere: ${links.length}; refused by the policy: ${tab.complaints.length}`
  return { what, isRight: !isRun && isAlive && foreign.length + links.length + tab.complaints.length === 0, found }
}

async function opensSoon(tab: Tab): Promise<Outcome> {
  const path = await pageOf("long")
  await tab.open(`file://${path}`)
  const opened = await tab.value<number>('performance.getEntriesByType("navigation")[0].loadEventEnd')
  const articles = await tab.value<number>('document.querySelectorAll("main > article").length')
  const slowest = await tab.value<number>(SCROLLED)
  return {
    what: `a page of ${MESSAGES} messages`,
    isRight: opened < OPENS_WITHIN_MS && articles === MESSAGES,
    found: `${(Bun.file(path).size / 1e6).toFixed(1)} MB, open in ${Math.round(opened)} ms (${OPENS_WITHIN_MS}); slowest of 60 frames while it scrolls ${Math.round(slowest)} ms`,
  }
}
