/** Claude Code, versions 1.0 to 2.1, and the programs that have it inside: Xcode, and Claude desktop with Cowork. */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import type { Adapter } from "../adapter.ts"
import type { Grant, OutputForms } from "../output-forms.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { opensNothing } from "../shared/read-only.ts"
import { type Brand, CLAUDE_CODE, DESKTOP, ENTIRE, NANOCLAW, QODER, STREAM, XCODE } from "./brands.ts"
import { context } from "./context.ts"
import { concernsCowork, coworkSourceOf, ofThisAccount } from "./cowork.ts"
import { entireSource } from "./entire.ts"
import { fileRecord } from "./files.ts"
import { nanoclawSource } from "./nanoclaw.ts"
import { parserOf } from "./parse.ts"
import { printedLogs } from "./printed.ts"
import { placeIn } from "./project-key.ts"
import { desktopRegistration, hooks, registration } from "./registration.ts"
import { retention } from "./retention.ts"
import { coworkSerializerOf, serializerOf } from "./serialize.ts"
import { concerns, configRootSource } from "./source.ts"
import { streamParserOf, streamSerializerOf, streamSource } from "./stream.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** Nothing else below a project: its `memory/` is read by every later session there. */
const PROJECTS = [
  `projects/[^/]+/${UUID}\\.jsonl`,
  "projects/[^/]+/agent-[\\w-]+\\.(?:jsonl|meta\\.json)",
  `projects/[^/]+/${UUID}/(?:subagents|tool-results|workflows)/(?:[\\w.-]+/)*[\\w.-]+`,
]

const shared = {
  vocabulary,
  models: { provider: "anthropic", recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  files: fileRecord,
} as const

/** A session goes on in the mode that its last line names. Of those that are left out it asks, or does less. */
const GRANTING = ["bypassPermissions", "acceptEdits", "auto"]

const grants: readonly Grant[] = [
  {
    at: /\.jsonl$/,
    word: "permissionMode",
    of: ({ permissionMode: mode }) =>
      GRANTING.some((each) => each === mode) ? `permissionMode ${String(mode)}` : undefined,
  },
  // A task of Cowork names what it may reach beside its log.
  ...["egressAllowedDomains", "enabledMcpTools"].map((name) => ({
    at: /\/local_[^/]+\.json$/,
    word: name,
    of: (record: JsonObject) => (isEmpty(record[name]) ? undefined : name),
  })),
]

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === "object" && Object.keys(value).length === 0
}

const ofConfigRoot: OutputForms = {
  grants,
  sessionIds: whole(`${UUID}(?::agent-[\\w-]+)?`),
  relativePaths: [...PROJECTS, `todos/${UUID}-agent-[\\w-]+\\.json`].map(whole),
}

export const claudeCode: Adapter = {
  ...opening(CLAUDE_CODE),
  source: configRootSource(CLAUDE_CODE),
  parse: parserOf(CLAUDE_CODE),
  context,
  serialize: serializerOf(CLAUDE_CODE),
  output: ofConfigRoot,
  ...shared,
  relocation: { relativePath: (relativePath, _from, to) => placeIn(relativePath, to) },
  retention: { of: retention },
  watching: { concerns },
  registration,
  hooks,
  printedLogs,
}

/** The client of the command line looks for its sessions elsewhere, and is always told where they are. */
export const xcodeClaude: Adapter = {
  ...opening(XCODE),
  source: configRootSource(XCODE),
  parse: parserOf(XCODE),
  context,
  serialize: { ...serializerOf(XCODE), isGuest: true },
  output: ofConfigRoot,
  ...shared,
  relocation: { relativePath: (relativePath, _from, to) => placeIn(relativePath, to), isDiverted: () => true },
  retention: { of: retention },
  watching: { concerns },
}

/** What would have to be written for it to open a session of another client was not tried. */
export const qoder: Adapter = {
  ...opening(QODER),
  source: configRootSource(QODER),
  parse: parserOf(QODER),
  context,
  serialize: {
    native: serializerOf(QODER).native,
    resume: (sessionId, cwd, { root } = {}) => {
      const command = ["qodercli", "--resume", sessionId]
      return root === undefined
        ? { command, cwd }
        : { ...inOtherHome("Qoder", { QODER_CONFIG_DIR: root }), command, cwd }
    },
  },
  output: {
    ...ofConfigRoot,
    relativePaths: [...ofConfigRoot.relativePaths, whole(`(?:[^/]+/)?${UUID}\\.jsonl`)],
  },
  ...shared,
  models: { recordedAt: shared.models.recordedAt },
  watching: { concerns },
}

const GROUP = "data/(?:v2-)?sessions/[\\w-][\\w.-]{0,120}/\\.claude(?:-shared)?/"

/** Sessions of its agents. No command resumes one: NanoClaw continues it when somebody writes in its chat. */
export const nanoclaw: Adapter = {
  ...opening(NANOCLAW),
  source: nanoclawSource,
  parse: parserOf(NANOCLAW),
  context,
  serialize: { native: serializerOf(NANOCLAW).native, resume: opensNothing(NANOCLAW.title) },
  output: {
    grants,
    sessionIds: whole(`${UUID}(?::agent-[\\w-]+)?`),
    relativePaths: [...PROJECTS, `projects/[^/]+/${UUID}\\.jsonl\\.rotated-\\d{1,16}`].map((form) =>
      whole(GROUP + form),
    ),
    hiddenFolder: new RegExp(`^${GROUP}`, "i"),
  },
  ...shared,
}

const TASK_NAME = `local_(?:${UUID}|ditto_[\\w-]{1,80})`
const TASK = `${UUID}/${UUID}/(?:agent/)?${TASK_NAME}`

export const claudeDesktop: Adapter = {
  ...opening(DESKTOP),
  source: coworkSourceOf(DESKTOP),
  parse: parserOf(DESKTOP),
  context,
  serialize: coworkSerializerOf(DESKTOP),
  output: {
    sessionIds: whole(`(?:${UUID}(?::agent-[\\w-]+)?|ditto_[\\w-]{1,80})`),
    relativePaths: [
      `${TASK}\\.json`,
      `${TASK}/audit\\.jsonl`,
      ...PROJECTS.map((form) => `${TASK}/\\.claude/${form}`),
    ].map(whole),
    hiddenFolder: new RegExp(`^${TASK}/\\.claude/`, "i"),
    grants,
  },
  ...shared,
  relocation: {
    relativePath: (relativePath, _from, to) => placeIn(relativePath, to),
    currentPath: ofThisAccount,
    isDiverted: () => true,
  },
  watching: { concerns: concernsCowork },
  registration: desktopRegistration,
}

/** Of a run that kept no log, or of which only its output was kept. */
export const claudeStream: Adapter = {
  ...opening(STREAM),
  source: streamSource,
  parse: streamParserOf(STREAM),
  context,
  serialize: streamSerializerOf(STREAM),
  output: {
    sessionIds: whole(`${UUID}:claude-stream`),
    relativePaths: [/^(?:[\w-]{1,60}\/){0,3}(?:[\w-]{1,80}\.stream\.jsonl?|claude-execution-output\.json)$/],
  },
  ...shared,
}

/** Transcripts of Claude Code in the checkpoints of a repository. */
export const entire: Adapter = {
  ...opening(ENTIRE),
  source: entireSource,
  parse: parserOf(ENTIRE),
  context,
  serialize: streamSerializerOf(ENTIRE),
  output: {
    sessionIds: whole(`${UUID}:entire`),
    relativePaths: [/^(?:[\da-f]{2}\/[\da-z]{10,26}\/|[\da-z]{10,26}\/)?\d{1,4}\/(?:full\.jsonl|metadata\.json)$/i],
  },
  ...shared,
}

function opening({ id, title, judged }: Brand): Pick<Adapter, "id" | "title" | "judged"> {
  return { id, title, judged }
}

function whole(form: string): RegExp {
  return new RegExp(`^${form}$`, "i")
}
