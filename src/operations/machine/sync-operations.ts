/** Syncing, once and for as long as nobody stops it. Each loads its work when it runs. */
import { Type } from "typebox"
import { manyOf, onOff } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"
import { Adapters, Count, Path, SeenSessions, SyncReportOutput, SyncReportShape } from "./shapes.ts"
import type { SyncHooks, SyncOutcome } from "./sync.ts"

const STAGES = ["import", "embed", "index"] as const

const SYNC_INPUT = {
  adapters: Adapters,
  path: Path,
  only: manyOf(STAGES, "Run only this stage."),
  skip: manyOf(STAGES, "Skip this stage."),
  full: onOff("Read everything again. Stored sessions are not changed."),
  no_wait: onOff("Fail immediately if another sync of this store is running."),
}

const SyncPlanOutput = closedObject({
  adapters: Type.Array(
    closedObject({
      adapter: Type.String(),
      path: Type.String(),
      sessions: closedObject({
        ...SeenSessions,
        nameless: Count,
      }),
      bytes_to_read: Count,
    }),
  ),
  dry_run: Type.Literal(true),
})

interface SyncRequest {
  readonly adapters?: readonly string[]
  readonly path?: string
  readonly only?: readonly (typeof STAGES)[number][]
  readonly skip?: readonly (typeof STAGES)[number][]
  readonly full?: boolean
  readonly no_wait?: boolean
}

function syncOptions({ adapters = [], path, only = [], skip = [], full = false, no_wait = false }: SyncRequest) {
  return { adapters, path, only, skip, isFull: full, isPatient: !no_wait }
}

export const sync = defineLocalOperation({
  name: "sync",
  summary: "Store what the clients have written since the last time.",
  input: closedObject({ ...SYNC_INPUT, dry_run: onOff("Show what would be read without storing it.") }),
  output: Type.Union([SyncReportOutput, SyncPlanOutput]),
  errors: ["conflict", "interrupted"],
  surfaces: { local: true, cli: "sync" },
  read: false,
  run: async ({ pond, ...hooks }: RunContext & SyncHooks, { dry_run, ...request }) => {
    const [{ planPond, planDocument, syncPond }, { unreadOf }] = await Promise.all([
      import("./sync.ts"),
      import("./unread.ts"),
    ])
    const options = syncOptions(request)
    if (dry_run === true) return planDocument(await planPond(pond, options, hooks))
    const report = await syncPond(pond, options, hooks)
    return { ...report, unread: report.interrupted ? [] : await unreadOf(pond, hooks.signal) }
  },
})

export const watch = defineLocalOperation({
  name: "watch",
  summary: "Store each change within two seconds, until stopped.",
  input: closedObject(SYNC_INPUT),
  output: closedObject(SyncReportShape),
  errors: ["interrupted"],
  surfaces: { local: true, cli: "watch" },
  read: false,
  /** Each round is a separate document: `onReport` gets them as they end, and the last is returned. */
  run: async ({ pond, ...hooks }: RunContext & SyncHooks & { onReport: (report: SyncOutcome) => void }, request) => {
    const { watchPond } = await import("./watch.ts")
    let last: SyncOutcome = { adapters: [], embed: null, index: null, ms: 0, interrupted: false }
    const onReport = (report: SyncOutcome) => {
      last = report
      hooks.onReport(report)
    }
    await watchPond(pond, syncOptions(request), { ...hooks, onReport })
    return last
  },
})
