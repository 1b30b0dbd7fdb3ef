/** OpenClaw, whose sessions are lines of pi: in a database since 2026.7.2, in logs before. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Session } from "../../model/session.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Adapter, FileSink, NativeSerializer, Serialize, WholeFile } from "../adapter.ts"
import type { Retention } from "../capabilities.ts"
import type { Registration } from "../registration.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { readSettings } from "../shared/settings-file.ts"
import { OPENCLAW } from "./brands.ts"
import { context } from "./context.ts"
import { foreignOf } from "./foreign.ts"
import { indexAtRoot, isIndexPlace, keyIn } from "./openclaw-index.ts"
import { concerns, openclawRows, openclawSource } from "./openclaw-source.ts"
import { parserOf } from "./parse.ts"
import { usage } from "./usage.ts"
import { vocabularyOf } from "./vocabulary.ts"

const IN_FILES = String.raw`(?:agents\/[\w-]+\/sessions\/)?`
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

const serialize: Serialize = {
  native,
  foreign: foreignOf(OPENCLAW),
  // A session is opened by the key that it is listed under, once the client has taken its log into the database.
  resume: (sessionId, cwd, { root, knownAs = OPENCLAW.listing.keyOf(sessionId, undefined) } = {}) => {
    const command = ["openclaw", "chat", "--session", knownAs]
    const before = ["openclaw", "doctor", "--session-sqlite", "import"]
    const note = "Stop its Gateway first: while it runs, nothing else may write."
    return root === undefined
      ? { command, before, note, cwd }
      : { ...inOtherHome(OPENCLAW.title, { OPENCLAW_STATE_DIR: root }), command, before, cwd }
  },
}

export const openclaw: Adapter = {
  id: OPENCLAW.id,
  title: OPENCLAW.title,
  judged: { by: "client", from: "2026.9.6", to: "2026.9.6", packages: ["openclaw"] },
  source: openclawSource,
  parse: parserOf(OPENCLAW),
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^${UUID}$`, "i"),
    relativePaths: [
      new RegExp(String.raw`^${IN_FILES}(?:[\dT:.-]+Z?_)?${UUID}\.jsonl(?:\.reset\.[\w.:-]+)?$`, "i"),
      new RegExp(`^${IN_FILES}sessions\\.json$`),
    ],
  },
  vocabulary: vocabularyOf(OPENCLAW),
  models: { recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  // What is restored are logs: the client takes them into its database itself.
  database: { schema: { create: [], keys: {}, shared: [], owners: [] }, rows: openclawRows },
  relocation: { atRoot: indexAtRoot },
  retention: { of: retention },
  watching: { concerns },
  registration: registration(),
}

/** The lines of its log, and its entry of the list, where it has one. */
function native(session: Session, sink: FileSink): NativeSerializer {
  const listed: string[] = []
  const records = createNativeSerializer(session, {
    ...sink,
    line: (...line) => sink.line(...line),
    row: (...row) => sink.row(...row),
    file: (file: WholeFile) => {
      const isListed = file.form === "document" && isIndexPlace(file.relativePath)
      if (isListed) listed.push(file.text)
      sink.file(isListed ? { ...file, entryOf: "" } : file)
    },
  })
  return {
    push: records.push,
    end: () => {
      const knownAs = keyIn(listed)
      return { ...records.end(), ...(knownAs === undefined ? {} : { knownAs }) }
    },
  }
}

const DAYS_DEFAULT = 30
const SETTING = "session.maintenance.pruneAfter"

/** It deletes what nothing was said in for thirty days, but where it is only to warn. */
function retention(root: string): Retention | undefined {
  if (!existsSync(join(root, "agents"))) return undefined
  const file = join(root, "openclaw.json")
  const { session } = readSettings(file) as { session?: { maintenance?: { mode?: unknown; pruneAfter?: unknown } } }
  const { mode, pruneAfter } = session?.maintenance ?? {}
  if (mode === "warn") return undefined
  return { days: daysOf(pruneAfter) ?? DAYS_DEFAULT, setting: SETTING, file }
}

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 }

/** `30d`, `720h`; a number alone counts days. */
function daysOf(value: unknown): number | undefined {
  const [, count, unit = "d"] = /^(\d+)([hdw])?$/.exec(String(value ?? "")) ?? []
  return count === undefined ? undefined : (Number(count) * (HOURS[unit] ?? 24)) / 24
}

function registration(): Registration {
  return {
    files: (environment: Environment, home: string) => [
      { path: join(openclawSource.roots(environment, home)[0] ?? home, "openclaw.json"), form: "json" },
    ],
    servers: ["mcp", "servers"],
    ...programAndArguments(),
  }
}
