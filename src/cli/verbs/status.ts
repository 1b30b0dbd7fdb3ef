/** `pond status`: how things stand, on one screen. What the store says at once is shown at once. */

import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { overview, type StoreOverview } from "../../operations/machine/care-operations.ts"
import type { Surroundings } from "../../operations/machine/overview.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { ageText, everyText, recordText, unidentifiedText, unreadText } from "../render/sync-text.ts"
import { wrapToWidth } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

const LABEL_WIDTH = 11
const DEAD_SHARE_SAID = 0.15
const AGENTS_SHOWN = 6
const KINDS_SHOWN = 5
/** So many messages read one by one are felt in a search. */
const WAITING_SAID = 5000

const args = argumentsFor(overview.input, { quick: {} })

export const status = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["status", "status --quick", "status --json", "--store s3://bucket/prefix status"],
  run: async (context) => {
    const { pond, flags, signal, isJson, page, writeOut } = context
    const nowMs = pond.host.clock.nowMs()
    const onStore = (store: StoreOverview) => {
      if (!isJson) writeOut(renderHoldings(store, nowMs, page))
    }
    const answer = await perform(overview, { pond, signal, onStore }, args.inputOf(context))
    const render = (layout: Page) =>
      flags.quick ? renderHoldings(answer, nowMs, layout) : renderSurroundings(answer as Surroundings, layout)
    return { document: { ...answer }, render }
  },
})

/** A name, and what is said of it; further lines stand below the first. */
function entry(name: string, text: string, { style, columns }: Page): string {
  const [first = "", ...rest] = wrapToWidth(text, Math.max(20, columns - LABEL_WIDTH))
  const indent = " ".repeat(LABEL_WIDTH)
  return `${style.bold(name.padEnd(LABEL_WIDTH))}${first}\n${rest.map((line) => `${indent}${line}\n`).join("")}`
}

// --- The store --------------------------------------------------------------------------------------------------------

function renderHoldings(holdings: StoreOverview, nowMs: number, page: Page): string {
  const { version, namespace, store, sessions, messages, parts, blobs, last_sync } = holdings
  const kept = `${counted(sessions, "session")}, ${counted(messages, "message")}, ${counted(parts, "part")}, ${counted(blobs, "attachment")}`
  const isOwn = namespace === "local"
  return [
    entry("pond", `${version}${isOwn ? "" : `, namespace ${visibleLine(namespace)}`}`, page),
    entry("store", `${page.path(store)}${sizeText(holdings)}`, page),
    ...holdings.damage.map(({ message }) => entry("damage", `${message} Run \`pond repair\`.`, page)),
    entry("contains", sessions === 0 ? "nothing yet; run `pond sync`" : kept, page),
    sessions === 0 ? "" : entry("clients", agentsText(holdings), page),
    sessions === 0 ? "" : entry("word index", indexText(holdings), page),
    entry(
      "last sync",
      last_sync === null ? "never on this machine; run `pond sync`" : recordText(last_sync, nowMs),
      page,
    ),
  ].join("")
}

function sizeText({ bytes }: StoreOverview): string {
  if (bytes === null || bytes.live + bytes.dead === 0) return ""
  const dead =
    bytes.dead > bytes.live * DEAD_SHARE_SAID ? ` (${bytesText(bytes.dead)} reclaimable: \`pond optimize\`)` : ""
  const small = bytes.dead > 0 && dead === "" ? ` (${bytesText(bytes.dead)} reclaimable: \`pond optimize\`)` : ""
  return `, ${bytesText(small === "" ? bytes.live : bytes.live + bytes.dead)}${small}${dead}`
}

/** By client; what its sub-agents hold stands behind it. */
function agentsText({ by_agent }: StoreOverview): string {
  const clients = new Map<string, { own: number; subs: number }>()
  for (const { source_agent, sessions } of by_agent) {
    const [client = "", sub] = source_agent.split("/")
    const counts = clients.get(client) ?? { own: 0, subs: 0 }
    clients.set(
      client,
      sub === undefined ? { ...counts, own: counts.own + sessions } : { ...counts, subs: counts.subs + sessions },
    )
  }
  const shown = [...clients].slice(0, AGENTS_SHOWN).map(([client, { own, subs }]) => {
    const of = subs === 0 ? "" : ` (+${counted(subs, "sub-agent session")})`
    return `${visibleLine(client)} ${countText(own)}${of}`
  })
  const more = clients.size > AGENTS_SHOWN ? [`${countText(clients.size - AGENTS_SHOWN)} more clients`] : []
  return [...shown, ...more].join(", ")
}

function indexText({ indexes, messages }: StoreOverview): string {
  const words = indexes.find(({ table, name }) => table === "words" && name === "words")
  if (words === undefined) {
    return messages > WAITING_SAID
      ? "not built: a search reads every message; run `pond optimize`"
      : "not built yet; not needed for so few messages"
  }
  if (words.waiting === 0) return "up to date"
  const some = `${countText(words.waiting)} of ${countText(messages)} messages not indexed yet (they are still searched)`
  return words.waiting > WAITING_SAID ? `${some}; run \`pond optimize\`` : some
}

// --- Around it --------------------------------------------------------------------------------------------------------

function renderSurroundings(around: Surroundings, page: Page): string {
  const { embeddings, sources, unread, disabled, schedule, troubles } = around
  const lines = [
    entry("semantic", meaningText(embeddings), page),
    entry("schedule", scheduleText(schedule), page),
    ...sources.map((source) => entry("source", sourceText(source, page), page)),
    sources.length === 0 && troubles.length === 0
      ? entry("source", "no supported client has sessions here; `pond adapters list` shows where pond looks", page)
      : "",
    disabled.length === 0
      ? ""
      : entry("disabled", `${visibleLine(disabled.join(", "))}; \`pond adapters enable NAME\``, page),
  ]
  const warnings = [
    ...sources.flatMap((source) => warningsOf(source, page)),
    ...unread.map(unreadText),
    ...troubles.map(visibleLine),
  ]
  return [...lines, ...warnings.map((text) => entry("warning", text, page))].join("")
}

function meaningText({ configured, model, coverage }: Surroundings["embeddings"]): string {
  if (!configured) return "off (keyword search is used); see `pond help embeddings`"
  if (coverage === null) return `${visibleLine(model)}; run \`pond sync --only embed\` to start`
  const { embedded, total } = coverage
  const share = `${visibleLine(model)}, ${countText(embedded)} of ${counted(total, "message")}`
  return embedded >= total ? share : `${share}; run \`pond sync --only embed\` to continue`
}

function scheduleText({ scheduled, every_minutes, trouble }: Surroundings["schedule"]): string {
  if (!scheduled) return "off; `pond schedule start` turns on automatic sync"
  return trouble === null
    ? `every ${everyText(every_minutes ?? 0)}`
    : `${visibleLine(trouble)}; \`pond schedule start\` fixes it`
}

type Source = Surroundings["sources"][number]

function sourceText({ title, path, sessions, pending, bytes_to_read }: Source, page: Page): string {
  const counts = [
    [pending.new, "new"],
    [pending.grown, "grown"],
    [pending.rewritten, "rewritten"],
  ] as const
  const waiting = counts.filter(([count]) => count > 0).map(([count, word]) => `${countText(count)} ${word}`)
  const state =
    waiting.length === 0 ? "all stored" : `${waiting.join(", ")} (${bytesText(bytes_to_read)}); run \`pond sync\``
  return `${title}, ${counted(sessions, "session")} in ${page.path(path)}: ${state}${pending.nameless === 0 ? "" : `; ${unidentifiedText(pending.nameless)}`}`
}

/** Of a client that keeps so many sessions: from how many on it soon deletes some. */
const NEARLY_ALL = 0.9

function deletionText(
  { due, days = 0, setting = "", sessions: kept }: NonNullable<Source["retention"]>,
  sessions: number,
): string | undefined {
  if (kept !== undefined)
    return sessions < kept * NEARLY_ALL
      ? undefined
      : `keeps the newest ${counted(kept, "session")}, has ${countText(sessions)}, and deletes the others`
  return due === 0 ? undefined : `deletes ${counted(due, "session")} within a week (${setting}: ${ageText(days)})`
}

function warningsOf(
  { title, path, sessions, issues, unverified_versions, unverified_install, unknown_records, retention }: Source,
  page: Page,
): string[] {
  const lines: string[] = []
  if (sessions === 0) lines.push(`${title}: no sessions found in ${page.path(path)}`)
  if (unverified_versions.length > 0) {
    lines.push(
      `${title}: sessions written by newer versions than pond was verified with (${visibleLine(unverified_versions.join(", "))}). Everything is stored; \`pond verify\` checks it`,
    )
  }
  if (unverified_install !== null && !unverified_versions.includes(unverified_install)) {
    lines.push(
      `${title}: version ${visibleLine(unverified_install)} is installed, which is newer than pond was verified with. Everything is stored; \`pond verify\` checks it`,
    )
  }
  if (unknown_records.length > 0) {
    const kinds = unknown_records
      .slice(0, KINDS_SHOWN)
      .map(({ kind, sessions: met }) => `${visibleLine(kind)} (${counted(met, "session")})`)
    const hidden = unknown_records.length - KINDS_SHOWN
    const more = hidden > 0 ? `and ${counted(hidden, "other kind")}` : ""
    lines.push(`${title}: unknown records, stored complete: ${kinds.join(", ")}${more}`)
  }
  const deletes = retention === null ? undefined : deletionText(retention, sessions)
  if (deletes !== undefined) lines.push(`${title} ${deletes}. Sessions stored in pond are kept`)
  lines.push(
    ...issues
      .filter(({ severity }) => severity === "fault")
      .map(
        ({ count, example }) =>
          `${title}: ${visibleLine(example.found)} in ${visibleLine(example.file)}${count > 1 ? `, and ${count - 1} more` : ""}`,
      ),
  )
  return lines
}
