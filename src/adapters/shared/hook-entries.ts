/** The shape in which most clients keep hooks: below the name of a moment a list of groups, each with a list of commands. */
import type { ConfigValue } from "../../platform/edit/editable.ts"
import { HOOK_TIMEOUT_S, type HookEntries, type Moment } from "../hooks.ts"

export interface GroupedHooks {
  /** The id of the adapter, by which `pond hook` knows who calls. */
  readonly client: string
  readonly moments: readonly Moment[]
  /** What the client takes a timeout in (default: seconds). */
  readonly timeoutsIn?: "milliseconds"
  /** Whether each hook has a name. */
  readonly isNamed?: true
}

export function groupedHooks({ client, moments, timeoutsIn, isNamed }: GroupedHooks): HookEntries {
  return {
    kind: "entries",
    entries: (command, timeoutS = HOOK_TIMEOUT_S) =>
      Object.fromEntries(
        moments.map(({ event, name, matcher }): [string, ConfigValue] => {
          const hook = {
            ...(isNamed === undefined ? {} : { name: `pond ${event}` }),
            type: "command",
            command: hookLine(command, event, client),
            timeout: timeoutsIn === undefined ? timeoutS : timeoutS * 1_000,
          }
          return [name, { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] }]
        }),
      ),
  }
}

export function hookLine(command: string, event: string, client: string): string {
  return `${command} hook ${event} --client ${client}`
}
