/**
 * What a client can do or does that others do not: each is a separate object of the contract (`adapter.ts`), which also has
 * the two that speak of files and rows, `Database` and `Relocation`.
 */
import type { JsonValue } from "../model/json.ts"
import type { Entry, Session } from "../model/session.ts"

/** What the client's sessions and settings say of models. */
export interface Models {
  /** The provider that this client's models come from, by the name that other clients give it: `anthropic`. */
  readonly provider?: string
  /** Where the records of a role name the model that spoke, as keys below the record. */
  readonly recordedAt: readonly { readonly role: "assistant" | "system"; readonly path: readonly string[] }[]
  /** The model that the client was last used with below a root. For clients whose sessions name the one that they go on with. */
  readonly lastUsed?: (root: string) => string | undefined
}

/** For clients whose forks continue a file of another session without copying it. */
export interface Lineages {
  /** Learns of a session from pieces, each of whole records. */
  readonly open: (session: Session) => Lineage
}

export interface Lineage {
  push(entries: readonly Entry[]): void
  /** Sessions without whose files this one is not whole in its own client. */
  needs(): readonly string[]
}

/** For clients that give the records of an old log ids when they open it again. */
export interface Upgrade {
  /** The record without what the upgrade changes. A record that is stored without an id is recognised by it, and not stored twice. */
  readonly unchanged: (record: JsonValue) => JsonValue
}

/** For clients that delete old sessions by themselves. */
export interface RetentionPolicy {
  readonly of: (root: string) => Retention | undefined
  /** Which of its sessions it deletes, by the path of the main file. Absent: all of them. */
  readonly deletes?: (relativePath: string) => boolean
}

/** When the client deletes sessions: by their age, or by how many there are. */
export type Retention = AgeRetention | CountRetention

/** After so many days it deletes what nothing touched. */
export interface AgeRetention {
  readonly days: number
  readonly sessions?: never
  /** What the client calls it, and the file where it is set. */
  readonly setting: string
  readonly file: string
}

/** It keeps so many sessions, the newest, which nobody can set. */
export interface CountRetention {
  readonly sessions: number
  readonly days?: never
  readonly setting?: never
  readonly file?: never
}

/** For clients that write logs and notes beside their sessions all the time. */
export interface Watching {
  /** Whether what happens at a path below a root can change what `plan` says. */
  readonly concerns: (root: string, relativePath: string) => boolean
}
