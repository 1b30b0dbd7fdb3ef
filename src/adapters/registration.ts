/**
 * How a client is told of an MCP server: which of its settings files says so, where in it, and in what words. Pure
 * description; reading and changing the file is the caller's work. An adapter whose client knows no MCP has none.
 */
import type { ConfigValue } from "../platform/edit/editable.ts"
import type { Environment } from "../platform/host/environment.ts"

export interface SettingsFile {
  readonly path: string
  readonly form: "json" | "toml" | "yaml"
}

export interface Registration {
  /** The client's settings for this user, by its own variables and defaults. The first that is there counts; where none is, the last is made. */
  readonly files: (environment: Environment, home: string) => readonly SettingsFile[]
  /** Only a file that is there is changed: one with nothing but a server would take the place of the client's defaults. */
  readonly isOnlyChanged?: true
  /** The keys that lead to its servers; each server is a key below. */
  readonly servers: readonly string[]
  /** Its servers are a list instead, and told apart by this key of each. */
  readonly named?: string
  /** A server of that command, as the client's own `mcp add` would write it. */
  readonly entry: (command: readonly string[]) => ServerEntry
  /** The command of such an entry; nothing where it is none, such as a server on the network. */
  readonly commandOf: (entry: ConfigValue) => readonly string[] | undefined
  /** What does the same by hand. Where it is left out, the client has no command for it. */
  readonly byHand?: (name: string, command: readonly string[]) => readonly string[]
}

export type ServerEntry = { readonly [key: string]: ConfigValue }
