/**
 * Sessions in the formats in which traces of agents are exchanged: trajectories of ATIF, spans of OpenTelemetry, and what the
 * Hugging Face Hub shows. Like a document they may be redacted, and like it they are not made to be imported again.
 */

import { originOf } from "../../../adapters/registry.ts"
import { LOSSES, type LossKind } from "../../../adapters/shared/losses.ts"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../../model/json.ts"
import type { Loss } from "../../../model/report.ts"
import { VERSION } from "../../../platform/host/version.ts"
import { nativeFiles } from "../../../restore/output-files.ts"
import type { Sessions } from "../../../sessions/store.ts"
import type { Pond } from "../../pond.ts"
import { createRedactor, type Replaced } from "../redact.ts"
import { trajectoryOf } from "./atif.ts"
import { hubLines, NATIVE_TO_HUB } from "./hub.ts"
import { spansOf } from "./otlp.ts"
import { readTrace, type Trace } from "./read-trace.ts"

export type TraceFormat = "atif" | "otlp" | "traces"

export interface TraceOptions {
  readonly format: TraceFormat
  readonly isRedacted: boolean
}

export interface TraceShare {
  /** One after the other: each has to be read to its end before the next. */
  files(sessionIds: readonly string[]): AsyncGenerator<TraceFile>
  /** One session, as one file. */
  file(sessionId: string): AsyncGenerator<string>
  /** So far, as the other two. */
  readonly messages: () => number
  readonly replaced: () => readonly Replaced[] | undefined
  readonly losses: () => readonly { readonly kind: string; readonly count: number; readonly found: string }[]
}

export interface TraceFile {
  readonly name: string
  readonly chunks: AsyncIterable<string>
}

export function shareTraces(pond: Pond, { format, isRedacted }: TraceOptions, signal: AbortSignal): TraceShare {
  const redactor = isRedacted ? createRedactor(pond.host.environment) : undefined
  const losses = new Map<string, number>()
  let messages = 0

  async function read(sessionId: string): Promise<Trace> {
    const trace = await readTrace(await pond.sessions(), sessionId, signal)
    count(trace)
    return trace
  }

  function count(trace: Trace): void {
    messages += trace.messages
    for (const { kind } of trace.losses as readonly Loss[]) losses.set(kind, (losses.get(kind) ?? 0) + 1)
    // A trace of the Hub is one session.
    if (format !== "traces") for (const child of trace.children) count(child.trace)
  }

  /** Other readers refuse half a character. */
  function clean(text: string): string {
    const whole = text.toWellFormed()
    if (whole !== text) losses.set("half_character", (losses.get("half_character") ?? 0) + 1)
    return redactor === undefined ? whole : redactor.clean(whole)
  }

  async function* traceText(trace: Trace): AsyncGenerator<string> {
    if (format === "traces") yield* hubText(await pond.sessions(), trace, clean, isRedacted)
    else yield `${stringifyJson(cleaned(format === "atif" ? trajectoryOf(trace) : spansOf(trace, VERSION), clean))}\n`
  }

  async function* files(sessionIds: readonly string[]): AsyncGenerator<TraceFile> {
    const met = new Set<string>()
    const waiting = [...sessionIds]
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (met.has(id)) continue
      met.add(id)
      const trace = await read(id)
      yield { name: fileName(trace, format), chunks: traceText(trace) }
      if (format === "traces") waiting.unshift(...trace.children.map((child) => child.trace.session.id))
    }
    if (format === "traces") yield { name: "README.md", chunks: cardOf(met.size) }
  }

  return {
    files,
    file: async function* (sessionId) {
      yield* traceText(await read(sessionId))
    },
    messages: () => messages,
    replaced: () => redactor?.replaced(),
    losses: () => [...losses].map(([kind, places]) => ({ kind, count: places, found: LOSSES[kind as LossKind] })),
  }
}

// --- The Hub --------------------------------------------------------------------------------------------------------------

type Clean = (text: string) => string

async function* hubText(sessions: Sessions, trace: Trace, clean: Clean, isRedacted: boolean): AsyncGenerator<string> {
  const native = await nativeLines(sessions, trace)
  if (native === undefined) for (const line of hubLines(trace)) yield `${stringifyJson(cleaned(line, clean))}\n`
  else for (const line of native) yield `${isRedacted ? cleanedLine(line, clean) : line}\n`
}

/** The log of a client that the Hub reads, as the client wrote it. */
async function nativeLines(sessions: Sessions, { session }: Trace): Promise<string[] | undefined> {
  const adapter = originOf(session.source_agent)
  if (adapter === undefined || NATIVE_TO_HUB[adapter.id] === undefined) return undefined
  const source = session.options["source"] as JsonValue | undefined
  const main = isJsonObject(source) ? source["file"] : undefined
  const log = nativeFiles(adapter, await sessions.log(session.id)).find(({ relativePath }) => relativePath === main)
  if (log?.form !== "log") return undefined
  return [...log.lines].map((line) => (typeof line === "string" ? line : new TextDecoder().decode(line)))
}

/** A line that is no JSON is cleaned as a text. */
function cleanedLine(line: string, clean: Clean): string {
  const parsed = parseJson(line)
  return parsed.ok ? stringifyJson(cleaned(parsed.value, clean)) : clean(line)
}

function cleaned(value: JsonValue, clean: Clean): JsonValue {
  if (typeof value === "string") return clean(value)
  if (Array.isArray(value)) return value.map((each: JsonValue) => cleaned(each, clean))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), cleaned(each, clean)]))
}

const ENDINGS: Readonly<Record<TraceFormat, string>> = {
  atif: ".trajectory.json",
  otlp: ".otlp.json",
  traces: ".jsonl",
}

/** Ids are a client's, and may hold anything. */
function fileName({ session }: Trace, format: TraceFormat): string {
  const plain = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(session.id)
  const name = `${plain ? session.id : Bun.hash.xxHash64(session.id).toString(16).padStart(16, "0")}${ENDINGS[format]}`
  if (format !== "traces") return name
  const [agent = ""] = session.source_agent.split("/")
  return `sessions/${NATIVE_TO_HUB[agent] ?? (agent.replace(/[^\w-]/g, "_") || "other")}/${name}`
}

/** What the Hub reads of a dataset: its tags, and which files are its rows. */
async function* cardOf(sessions: number): AsyncGenerator<string> {
  yield [
    "---",
    "tags:",
    "- agent-traces",
    "configs:",
    "- config_name: default",
    "  data_files: sessions/**/*.jsonl",
    "---",
    "",
    "# Agent traces",
    "",
    `Sessions of coding agents: ${sessions}. Logs of Claude Code, Codex and pi are as their clients wrote them, all others`,
    "in the Session Trace Simple Format. Read them before you publish them.",
    "",
  ].join("\n")
}
