/**
 * How a client is told to call `pond hook` at the ends of a session and before prompts: which of its files says so, and
 * in what words. Pure description; reading and changing the file is the caller's work.
 */
import type { HookEvent } from "../model/hook-events.ts"
import type { ConfigValue } from "../platform/edit/editable.ts"
import type { Environment } from "../platform/host/environment.ts"

export interface Hooks {
  /** The file that the client reads for this user. */
  readonly file: (environment: Environment, home: string) => string
  readonly content: HookEntries | HookFile
  /** What a person has to do besides, in one sentence. */
  readonly next?: string
}

/** The file has settings or hooks of others too: pond adds an element to each of these lists. */
export interface HookEntries {
  readonly kind: "entries"
  /** By the name of the list, which lies below `hooks`. `command` is pond as a shell runs it. */
  readonly entries: (command: string, timeoutS?: number) => { readonly [name: string]: ConfigValue }
}

/** The file is pond's alone. */
export interface HookFile {
  readonly kind: "file"
  /** `command` is pond as words, `line` as a shell runs it. */
  readonly text: (command: readonly string[], line: string) => string
}

export interface Moment {
  readonly event: HookEvent
  /** The client's name of it. */
  readonly name: string
  /** Only when it starts so. */
  readonly matcher?: string
}

/** What the client waits for at most. pond itself gives up after a second (`recall.timeout_ms`). */
export const HOOK_TIMEOUT_S = 5
