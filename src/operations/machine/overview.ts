/** How things stand around the store: what waits in each source, what it was met with, and whether pond syncs by itself. */

import { type ConfiguredModel, configuredModel } from "../../embeddings/configured.ts"
import { toPondError } from "../../model/errors.ts"
import { embedCoverage } from "../../search/embed-missing.ts"
import { unverifiedVersions } from "../../sync/import.ts"
import { type SourceSurvey, surveySources, type UnreadSurvey } from "../../sync/plan/survey.ts"
import type { Pond } from "../pond.ts"
import { adapterNamed, disabledIds, installedVersion } from "./clients.ts"
import { type ScheduleStatus, scheduleStatus } from "./schedule.ts"
import { contextOf, importSources, inProjects } from "./sync.ts"
import { unreadOf } from "./unread.ts"

export interface Meaning {
  readonly configured: boolean
  readonly model: string
  /** Nothing where the model's files do not say how long its vectors are, or are not here yet. */
  readonly coverage: { readonly embedded: number; readonly total: number } | null
}

export interface Surroundings {
  readonly embeddings: Meaning
  readonly sources: readonly Source[]
  /** Clients that pond cannot read yet, where they are about to delete sessions. */
  readonly unread: readonly UnreadSurvey[]
  readonly disabled: readonly string[]
  readonly schedule: Pick<ScheduleStatus, "scheduled" | "every_minutes" | "trouble">
  /** What could not be looked at. */
  readonly troubles: readonly string[]
}

export interface Source extends SourceSurvey {
  /** The version that is installed, where it is newer than those that pond was verified with. Most logs name none. */
  readonly unverified_install: string | null
}

const ALL = { adapters: [] }

/** A part that cannot be looked at is said, and stops no other. */
export async function surroundingsOf(pond: Pond, signal: AbortSignal): Promise<Surroundings> {
  const troubles: string[] = []
  const orSaid = async <T>(what: string, look: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await look()
    } catch (error) {
      troubles.push(`${what}: ${toPondError(error).message}`)
      return otherwise
    }
  }
  const sources = await orSaid(
    "sources",
    async () =>
      (await surveySources(importSources(pond, ALL), await contextOf(pond, { signal }), inProjects(pond, ALL))).map(
        (survey) => withInstalled(pond, survey),
      ),
    [] as readonly Source[],
  )
  const unread = await orSaid("unread clients", () => unreadOf(pond, signal), [])
  const schedule = await orSaid<Surroundings["schedule"]>("schedule", () => scheduleStatus(pond), NONE)
  const embeddings = await orSaid("embeddings", () => meaningOf(pond), { configured: false, model: "", coverage: null })
  return { embeddings, sources, unread, disabled: disabledIds(pond), schedule, troubles }
}

function withInstalled({ host }: Pond, survey: SourceSurvey): Source {
  const adapter = adapterNamed(survey.adapter)
  const installed = installedVersion(adapter, host.environment)
  const [newer = null] = installed === undefined ? [] : unverifiedVersions(adapter, [installed])
  return { ...survey, unverified_install: newer }
}

async function meaningOf(pond: Pond): Promise<Meaning> {
  const settings = pond.host.settings().values.embeddings
  const model = configuredModel(settings, pond.host.path("cache"))
  const coverage =
    model?.dimension === undefined
      ? null
      : await embedCoverage(await pond.sessions(), model.id, model.dimension, settings.exclude_projects)
  return { configured: model !== undefined, model: describeModel(model) ?? settings.model, coverage }
}

/** Whose texts leave the machine must see it. */
function describeModel(model: ConfiguredModel | undefined): string | undefined {
  return model?.host === undefined ? model?.name : `${model.name} at ${model.host}, which receives every text`
}

const NONE = { scheduled: false, every_minutes: null, trouble: null }
