/** The hooks of a client as the plugin folder has them: what `pond init` adds to its settings, in a file with nothing else. */
import { HOOK_TIMEOUT_S } from "../../src/adapters/hooks.ts"
import { adapterById } from "../../src/adapters/registry.ts"

/** `command` is pond as a shell runs it. */
export function hooksOf(client: string, command = "pond", timeoutS = HOOK_TIMEOUT_S): object {
  const content = adapterById(client)?.hooks?.content
  if (content?.kind !== "entries") throw new Error(`${client} has no hooks in settings.`)
  const entries = Object.entries(content.entries(command, timeoutS))
  return { hooks: Object.fromEntries(entries.map(([name, entry]) => [name, [entry]])) }
}

/** The whole of a file that is pond's alone. */
export function hookFileOf(client: string): string {
  const content = adapterById(client)?.hooks?.content
  if (content?.kind !== "file") throw new Error(`${client} has no file for hooks.`)
  return content.text(["pond"], "pond")
}
