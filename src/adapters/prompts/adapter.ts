/** Prompts of sessions that are gone: a record of what was typed, and no session. Read only where somebody asks for it by name. */
import type { Adapter } from "../adapter.ts"
import { type Brand, CLAUDE, CODEX } from "./brands.ts"
import { context } from "./context.ts"
import { claude, codex, type promptsCodec } from "./parse.ts"
import { serializeOf } from "./serialize.ts"
import { assembleOf, promptsSource } from "./source.ts"

/** A session, or a day of a project. */
const NAME = "(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:\\d{4}-\\d\\d-\\d\\d|undated)-[0-9a-f]{8})"

export const claudePrompts: Adapter = adapterOf(CLAUDE, claude, { from: "2.0", to: "2.1.326" })
export const codexPrompts: Adapter = adapterOf(CODEX, codex, { from: "0.40.0", to: "0.169.0" })

function adapterOf(
  brand: Brand,
  codec: ReturnType<typeof promptsCodec>,
  versions: { readonly from: string; readonly to: string },
): Adapter {
  return {
    id: brand.id,
    title: brand.title,
    judged: { by: "source only", ...versions },
    source: promptsSource(brand),
    parse: codec.parse,
    context,
    serialize: serializeOf(brand, codec),
    output: {
      sessionIds: new RegExp(`^${NAME}:${brand.id}$`),
      relativePaths: [new RegExp(`^prompts/${NAME}\\.json$`)],
    },
    assemble: assembleOf(brand),
  }
}
