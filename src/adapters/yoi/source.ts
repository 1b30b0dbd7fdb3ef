/**
 * The segments of yoi's sessions: `sessions/<session>/<segment>.jsonl`, below `runtime/workers` since its runtime, and flat before.
 * What worker a segment is of says `metadata.json`, of which only names, directories and lineage are taken: the rest is settings.
 * Secrets, tokens and the identity of the runtime lie beside, and are not looked at.
 */
import { readFileSync } from "node:fs"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { parsedIn, textOfFile } from "../extract.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"
const SEGMENT = new RegExp(
  `^(?:sessions/(?:(${UUID})/)?|runtime/workers/(${UUID})/session/segments/)(${UUID})(\\.trace)?\\.jsonl$`,
)
const WORKER = new RegExp(`^(?:workers/[\\w-]{1,80}|runtime/workers/${UUID})/metadata\\.json$`)
const DEPTH_MAX = 5

export function concerns(_root: string, place: string): boolean {
  return /^(?:sessions|workers|runtime)(?:\/|$)/.test(place)
}

function plan(root: string): (SourceUnit | Issue)[] {
  const accepts = (place: string) => SEGMENT.test(place) || WORKER.test(place)
  const found = filesBelow(root, { form: "log", depthMax: DEPTH_MAX, accepts })
  const files = found.filter((each): each is SourceFile => !isIssue(each))
  const workers = files.filter(({ relativePath }) => WORKER.test(relativePath)).flatMap((file) => workerIn(file) ?? [])
  const traces = new Map(files.map((file) => [file.relativePath, file]))
  const met = new Set<string>()
  const units = files.flatMap((file): SourceUnit[] => {
    const [, session, runtime, segment, trace] = SEGMENT.exec(file.relativePath) ?? []
    // A move into the runtime leaves the segment where it was: it lies twice.
    if (segment === undefined || trace !== undefined || met.has(segment)) return []
    met.add(segment)
    const beside = traces.get(file.relativePath.replace(/\.jsonl$/, ".trace.jsonl"))
    const own = workers.find(({ folder, active }) =>
      runtime === undefined ? session !== undefined && active === session : folder === `runtime/workers/${runtime}`,
    )
    const parent = own && workers.find(({ children }) => children.includes(own.name))
    return [
      {
        ...{ key: file.relativePath, root, files: beside === undefined ? [file] : [file, beside] },
        ...(own === undefined ? {} : { beside: [workerRecord(own)] }),
        ...(parent === undefined ? {} : { parent: parsedIn(textOfFile(workerRecord(parent))) ?? null }),
      },
    ]
  })
  return [...found.filter(isIssue), ...units.toSorted((left, right) => (left.key < right.key ? -1 : 1))]
}

interface Worker {
  readonly file: SourceFile
  readonly folder: string
  readonly name: string
  /** The session that it is at. */
  readonly active: string | undefined
  readonly children: readonly string[]
  readonly kept: JsonObject
}

/** Further keys hold the manifest, which may hold settings of providers. */
const KEPT = ["worker_name", "active", "workspace_root", "spawned_children", "reclaimed_children"]

function workerIn(file: SourceFile): Worker | undefined {
  const parsed = parseJson(metadataText(file.path))
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined
  const { worker_name: name, active, spawned_children: spawned, reclaimed_children: reclaimed } = parsed.value
  if (typeof name !== "string") return undefined
  const entries = Object.entries(parsed.value).filter(([key]) => KEPT.includes(key))
  return {
    ...{ file, name, folder: file.relativePath.replace(/\/metadata\.json$/, "") },
    active: wordIn(active, "session_id"),
    children: [...namesIn(spawned), ...namesIn(reclaimed)],
    kept: Object.fromEntries(entries),
  }
}

function wordIn(value: JsonValue | undefined, key: string): string | undefined {
  const found = isJsonObject(value) ? value[key] : undefined
  return typeof found === "string" ? found : undefined
}

function namesIn(list: JsonValue | undefined): string[] {
  return Array.isArray(list) ? list.flatMap((each: JsonValue) => wordIn(each, "worker_name") ?? []) : []
}

function workerRecord({ file, kept }: Worker): Extract<RawRecord, { text: string }> {
  return { form: "document", file: { ...file, form: "document" }, line: 1, text: stringifyJson(kept) }
}

function metadataText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}
