/** `pond adapters`: the clients that pond reads and writes, and which of them it leaves alone. */

import { bytesText, counted } from "../../model/numbers.ts"
import type { Client, Discovered, Switched } from "../../operations/machine/clients.ts"
import {
  adaptersDisable,
  adaptersDiscover,
  adaptersEnable,
  adaptersList,
} from "../../operations/machine/setup-operations.ts"
import { perform } from "../../operations/operation.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { whenText } from "../render/dates.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Outcome, type Page } from "../verb.ts"

const args = argumentsFor(adaptersEnable.input, {}, [{ field: "adapters", name: "client", words: "adapters" }])

export const list = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["adapters list", "adapters list --json"],
  run: async ({ pond, signal }) => {
    const { adapters: clients } = await perform(adaptersList, { pond, signal }, {})
    return {
      document: { adapters: clients },
      render: (page: Page) => {
        const { style, columns } = page
        const rows = clients.map((client) => [
          client.adapter,
          stateText(client),
          `${client.verified_versions.from} to ${client.verified_versions.to}`,
          client.judged_by,
          client.judged_on,
          client.converts ? "yes" : "no",
          client.mcp ? "yes" : "no",
          placesOf(client, page),
        ])
        const titles = ["client", "state", "verified versions", "judged by", "on", "converts", "MCP", "sessions in"]
        const shape = titles.map((title, index) => ({ title, isFixed: index < titles.length - 1 }))
        return renderTable(shape, rows, { columns, head: style.bold })
      },
    }
  },
})

export const discover = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["adapters discover", "adapters discover --json"],
  run: async ({ pond, signal }) => {
    const { adapters: clients } = await perform(adaptersDiscover, { pond, signal }, {})
    return {
      document: { adapters: clients },
      render: (page) => renderDiscovered(clients, pond.host.clock.nowMs(), page),
    }
  },
})

export const enable = defineVerb({
  flags: NO_FLAGS,
  positionals: args.positionals,
  examples: ["adapters enable codex"],
  run: async (context) => outcomeOfSwitch(await perform(adaptersEnable, context, args.inputOf(context)), true),
})

export const disable = defineVerb({
  flags: NO_FLAGS,
  positionals: args.positionals,
  examples: ["adapters disable codex pi"],
  run: async (context) => outcomeOfSwitch(await perform(adaptersDisable, context, args.inputOf(context)), false),
})

function outcomeOfSwitch({ file, changed, disabled }: Switched, isEnabled: boolean): Outcome {
  const state = isEnabled ? "enabled" : "disabled"
  return {
    document: { file, changed, disabled },
    render: (page) => {
      if (changed.length === 0) return `No changes: already ${state}.\n`
      const rest = isEnabled
        ? "The next sync stores what was missed."
        : "Stored sessions are kept. `pond sync NAME` still reads it."
      return `${changed.join(", ")} ${changed.length === 1 ? "is" : "are"} ${state} in ${page.path(file)}. ${rest}\n`
    },
  }
}

/** What lies there, one line for each client. */
export function renderDiscovered(clients: readonly Discovered[], nowMs: number, page: Page): string {
  const { style, columns } = page
  const rows = clients.map((client) => [
    client.title,
    client.sessions === 0 ? stateText(client) : counted(client.sessions, "session"),
    client.bytes === 0 ? "" : bytesText(client.bytes),
    client.newest === null ? "" : whenText(client.newest, nowMs),
    placesOf(client, page),
  ])
  const titles = ["client", "found", "size", "newest", "in"]
  const shape = titles.map((title, index) => ({
    title,
    isFixed: index < titles.length - 1,
    align: title === "size" ? ("right" as const) : ("left" as const),
  }))
  return renderTable(shape, rows, { columns, head: style.bold })
}

function stateText({ enabled, found }: Client): string {
  if (!enabled) return "disabled"
  return found ? "found" : "not found"
}

function placesOf({ roots }: Client, page: Page): string {
  if (roots.length === 0) return "an export (sync --path)"
  const there = roots.filter(({ exists }) => exists)
  return (there.length === 0 ? roots : there).map(({ path }) => page.path(path)).join(", ")
}
