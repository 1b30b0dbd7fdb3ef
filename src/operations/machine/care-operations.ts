/** How things stand: store and sources, settings, health. Each loads its work when it runs. */

import { type TSchema, Type } from "typebox"
import { STATUSES } from "../doctor/check.ts"
import type { ExamineOptions } from "../doctor/doctor.ts"
import { nullable, oneOf, onOff } from "../fields.ts"
import { closedObject, defineLocalOperation, perform, type RunContext } from "../operation.ts"
import { StatusOutput, type StatusOutput as StoreFacts, status } from "../wire/status.ts"
import type { Surroundings } from "./overview.ts"
import { Count, IssueGroups, LastSync, RetentionDue, SCHEDULE, Texts, UnreadClients } from "./shapes.ts"
import type { SyncRecord } from "./sync-history.ts"

function optional<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Partial(Type.Object(properties)).properties
}

const SURROUNDINGS = {
  embeddings: closedObject({
    configured: Type.Boolean(),
    model: Type.String(),
    coverage: nullable(closedObject({ embedded: Count, total: Count })),
  }),
  sources: Type.Array(
    closedObject({
      adapter: Type.String(),
      title: Type.String(),
      path: Type.String(),
      sessions: Count,
      pending: closedObject({ new: Count, grown: Count, rewritten: Count, gone: Count, nameless: Count }),
      bytes_to_read: Count,
      issues: IssueGroups,
      unverified_versions: Texts,
      unverified_install: nullable(Type.String(), {
        description: "The version that is installed, where it is newer than those that pond was verified with.",
      }),
      unknown_records: Type.Array(closedObject({ kind: Type.String(), sessions: Count })),
      retention: nullable(RetentionDue),
    }),
  ),
  unread: UnreadClients,
  disabled: Type.Array(Type.String(), { description: "Adapters that are turned off." }),
  schedule: closedObject({
    ...optional(SCHEDULE),
    scheduled: Type.Boolean(),
    every_minutes: SCHEDULE.every_minutes,
    trouble: SCHEDULE.trouble,
  }),
  troubles: Type.Array(Type.String(), { description: "What could not be examined." }),
}

/** The store's own facts, and what this machine last did to it. */
export type StoreOverview = StoreFacts & { readonly last_sync: SyncRecord | null }

export const overview = defineLocalOperation({
  name: "overview",
  summary: "Show the state of the store, index, clients and schedule.",
  input: closedObject({ quick: onOff("Show only the store; skip clients and schedule.") }),
  output: closedObject({ ...StatusOutput.properties, last_sync: LastSync, ...optional(SURROUNDINGS) }),
  errors: [],
  surfaces: { local: true, cli: "status" },
  read: true,
  run: async (
    context: RunContext & OverviewHooks,
    { quick = false },
  ): Promise<StoreOverview & { readonly [Name in keyof Surroundings]?: Surroundings[Name] }> => {
    const { pond, signal } = context
    const { readSyncHistory } = await import("./sync-history.ts")
    const name = pond.storeName()
    const last = readSyncHistory(pond).findLast((record) => record.store === name)
    const store: StoreOverview = { ...(await perform(status, { pond, signal }, {})), last_sync: last ?? null }
    if (quick) return store
    // The adapters are loaded when the first part has been shown.
    context.onStore?.(store)
    const { surroundingsOf } = await import("./overview.ts")
    return { ...store, ...(await surroundingsOf(pond, signal)) }
  },
})

export interface OverviewHooks {
  /** With what the store knows at once, before the sources are scanned. */
  readonly onStore?: (store: StoreOverview) => void
}

const ORIGIN_FILE = closedObject({ kind: Type.Literal("file"), path: Type.String(), line: Type.Optional(Count) })

export const config = defineLocalOperation({
  name: "config",
  summary: "Show the settings in force, and where each came from.",
  input: closedObject({}),
  output: closedObject({
    file: closedObject({ path: Type.String(), exists: Type.Boolean() }),
    settings: Type.Array(
      closedObject({
        key: Type.String(),
        value: Type.Unknown(),
        origin: Type.Union([
          closedObject({ kind: oneOf(["flag", "environment"]), name: Type.String() }),
          ORIGIN_FILE,
          closedObject({ kind: Type.Literal("default") }),
        ]),
        description: Type.String(),
      }),
    ),
    directories: Type.Record(Type.String(), Type.String()),
  }),
  errors: [],
  surfaces: { local: true, cli: "config" },
  read: true,
  run: async ({ pond }: RunContext) => (await import("./config.ts")).describeConfig(pond),
})

const SetConfig = closedObject({
  key: Type.String(),
  path: Type.String(),
  changed: Type.Boolean(),
  overridden_by: Type.Optional(
    Type.String({ description: "The environment variable that takes precedence over the config file." }),
  ),
})
const SettingKey = Type.String({ minLength: 1, description: "The setting, such as embeddings.model." })

export const configSet = defineLocalOperation({
  name: "config_set",
  summary: "Set a setting in the config file.",
  input: closedObject({
    key: SettingKey,
    value: Type.String({ description: "The value. Separate the items of a list with commas." }),
  }),
  output: SetConfig,
  errors: [],
  surfaces: { local: true, cli: "config set" },
  read: false,
  run: async ({ pond }: RunContext, { key, value }) => (await import("./set-config.ts")).setConfig(pond, key, value),
})

export const configUnset = defineLocalOperation({
  name: "config_unset",
  summary: "Remove a setting from the config file to use its default.",
  input: closedObject({ key: SettingKey }),
  output: SetConfig,
  errors: [],
  surfaces: { local: true, cli: "config unset" },
  read: false,
  run: async ({ pond }: RunContext, { key }) => (await import("./set-config.ts")).setConfig(pond, key, undefined),
})

export const doctor = defineLocalOperation({
  name: "doctor",
  summary: "Check whether pond can work here.",
  input: closedObject({ fix: onOff("Fix what can be fixed automatically, then check again.") }),
  output: closedObject({
    findings: Type.Array(
      closedObject({
        check: Type.String(),
        status: oneOf(STATUSES),
        found: Type.String(),
        fix: nullable(closedObject({ does: Type.String(), done: Type.Boolean() })),
      }),
    ),
    ok: Type.Boolean(),
  }),
  errors: [],
  surfaces: { local: true, cli: "doctor" },
  read: false,
  run: async ({ pond, onCheck }: RunContext & Pick<ExamineOptions, "onCheck">, { fix: isMending = false }) =>
    await (await import("../doctor/doctor.ts")).examine(pond, { isMending, onCheck }),
})
