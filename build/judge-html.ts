/**
 * `bun run judge:html`: the page of a session as a real browser has it. Texts that would run where a page took them for markup
 * must do nothing, and a session of ten thousand messages must open soon. Needs Chromium (`apt-get install chromium`, or
 * its path in CHROMIUM). The browser has no network to speak of: each page is a file.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HTML_ATTACKS } from "../test/support/html-attacks.ts"
import { startBrowser, type Tab } from "./lib/browser.ts"
import { fillJudgedStore, LONG_MESSAGES, SCROLLED } from "./lib/judged-sessions.ts"
import { type Outcome, printOutcome } from "./lib/outcome.ts"
import { type Goldens, openGoldens, SCREENS } from "./lib/screens.ts"
import { pondCommand } from "./lib/timed-run.ts"

const OPENS_WITHIN_MS = 2000

const OWN_TAGS =
  "header h1 h3 h4 h5 h6 dl dt dd main article a time p ul ol li pre code span details summary b em small strong del blockquote table thead tbody tr th td hr img div nav svg rect footer script input output button select option"

const GOLDENS = join(import.meta.dir, "lib/html-screens.json")
const folder = mkdtempSync(join(tmpdir(), "pond-html-"))
try {
  await fillJudgedStore(join(folder, "store"))
  await using browser = await startBrowser(folder)
  const goldens = openGoldens(GOLDENS, await browser.tab(), Bun.argv.includes("--update"))
  const outcomes = [
    await attacked(await browser.tab()),
    await looksAsBefore(await browser.tab(), goldens),
    await opensSoon(await browser.tab()),
  ]
  await goldens.end()
  outcomes.forEach(printOutcome)
  process.exitCode = outcomes.every(({ isRight }) => isRight) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
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

async function looksAsBefore(tab: Tab, goldens: Goldens): Promise<Outcome> {
  await tab.open(`file://${await pageOf("short")}`)
  const wrong: string[] = []
  for (const screen of SCREENS) {
    await tab.show(screen)
    for (const isOpen of [false, true]) {
      await tab.value(`document.querySelectorAll("details").forEach((each) => { each.open = ${isOpen} })`)
      const name = `${isOpen ? "unfolded" : "folded"} ${screen.width} ${screen.theme}`
      const excess = await tab.value<number>("document.documentElement.scrollWidth - innerWidth")
      const change = await goldens.compare(name, await tab.screenshot())
      if (change !== undefined) wrong.push(`${name}: ${change}`)
      if (excess > 0) wrong.push(`${name}: ${excess} pixels too wide`)
    }
  }
  const found = wrong.length === 0 ? "as their goldens, nothing cut off" : wrong.join("\n       ")
  return { what: `${2 * SCREENS.length} screens`, isRight: wrong.length === 0, found }
}

async function opensSoon(tab: Tab): Promise<Outcome> {
  const path = await pageOf("long")
  await tab.open(`file://${path}`)
  const opened = await tab.value<number>('performance.getEntriesByType("navigation")[0].loadEventEnd')
  const articles = await tab.value<number>('document.querySelectorAll("main > article").length')
  const slowest = await tab.value<number>(SCROLLED)
  return {
    what: `a page of ${LONG_MESSAGES} messages`,
    isRight: opened < OPENS_WITHIN_MS && articles === LONG_MESSAGES,
    found: `${(Bun.file(path).size / 1e6).toFixed(1)} MB, open in ${Math.round(opened)} ms (${OPENS_WITHIN_MS}); slowest of 60 frames while it scrolls ${Math.round(slowest)} ms`,
  }
}
