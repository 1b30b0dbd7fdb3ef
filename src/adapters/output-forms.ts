/** The forms of what a restore may write for a client, and what a session lets its client do unasked. */
import type { JsonObject } from "../model/json.ts"

/**
 * What a session of this client may be written as, whoever made it. Beside its sessions a client keeps what it obeys: commands,
 * skills, settings, permissions. `src/restore/allowed-output.ts` holds every restore to these forms, and refuses besides what
 * no client's session needs: hidden names, ways out of the root, files that agents take for instructions.
 */
export interface OutputForms {
  /** The ids that the client itself gives. They go onto its command line, so none begins with `-`. Law: anchored at both ends. */
  readonly sessionIds: RegExp
  /** Paths below the root, with `/`. Law: anchored at both ends. */
  readonly relativePaths: readonly RegExp[]
  /** The hidden folder, from the root on, that the client keeps sessions in. What lies below it is held to the same rules. */
  readonly hiddenFolder?: RegExp
  /** The hidden name of a file that the client keeps sessions in, in the directory that they are about. Law: anchored at both ends. */
  readonly hiddenFile?: RegExp
  /** What its records let the client do without asking. */
  readonly grants?: readonly Grant[]
}

/**
 * A record by which a session lets its client act without asking its user, such as the mode of permissions that it goes on in.
 * Restored as it was, because it is a part of the session; said before, where somebody else may have made it.
 */
export interface Grant {
  /** Files of such a path, or rows of that table. */
  readonly at: RegExp | { readonly table: string }
  /** Stands in every line that has one, so that no other is parsed. */
  readonly word: string
  /** As a person reads it. Undefined where the record lets nothing happen unasked. */
  readonly of: (record: JsonObject) => string | undefined
}
