/**
 * The engine's binding throws one kind of `Error` whose text is the whole chain of causes. Only this file reads that
 * text; each line of the table is proved by a test that makes the real engine say it.
 */
import { type ErrorCode, PondError } from "../model/errors.ts"

export type Failure =
  /** Another writer was first. Reading again and repeating can succeed. */
  | "conflict"
  /** The store did not answer, or answered that it is busy. Repeating can succeed. */
  | "unreachable"
  | "absent"
  | "present"
  /** A file of the table is empty, cut, or not what it should be. */
  | "damaged"
  | "full"
  | "read_only"
  /** A file lies where a directory of the store's path would have to be. */
  | "misplaced"
  | "denied"
  /** What was asked is not understood: a regular expression that is none, for one. */
  | "rejected"
  | "other"

const PROSE: readonly (readonly [pattern: RegExp, failure: Failure])[] = [
  [/No space left on device|os error 28\b|StorageFull/i, "full"],
  [/Not a directory|os error 20\b/i, "misplaced"],
  [/Read-only file system|os error 30\b/i, "read_only"],
  [/Permission denied|os error 13\b|\b403\b|Forbidden|AccessDenied|Unauthenticated|\b401\b|Unauthorized/i, "denied"],
  [
    /commit conflict|Retryable commit|Too many concurrent writers|concurrent(ly)? (commit|transaction|write)/i,
    "conflict",
  ],
  [/regex parse error|Error resolving filter|Error optimizing sql filter|sql parser error/i, "rejected"],
  [/already exists/i, "present"],
  [/Table '.*' was not found|Dataset at path .* was not found|TableNotFound/i, "absent"],
  [
    /file size is too small|file magic number|Invalid magic|Object at location .* not found|NotFound|Not found|failed to fill whole buffer|EOF|Range .*(exceeds|beyond|start)|protobuf|decode|corrupt/i,
    "damaged",
  ],
  [
    /error sending request|connection (closed|reset|refused)|timed? ?out|operation timed|SlowDown|\b50[0234]\b|Generic (S3|GCS|MicrosoftAzure|HTTP)/i,
    "unreachable",
  ],
]

export function failureOf(error: unknown): Failure {
  const text = error instanceof Error ? error.message : String(error)
  return PROSE.find(([pattern]) => pattern.test(text))?.[1] ?? "other"
}

export function isRepeatable(failure: Failure): boolean {
  return failure === "conflict" || failure === "unreachable"
}

interface Told {
  readonly code: ErrorCode
  readonly message: (store: string) => string
}

const TOLD: Readonly<Record<Exclude<Failure, "other">, Told>> = {
  conflict: { code: "conflict", message: (store) => `Other writers kept the store ${store} busy. Run the same again.` },
  unreachable: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} does not answer. Check it with \`pond storage check\`.`,
  },
  absent: {
    code: "not_found",
    message: (store) => `The store ${store} has no such table. Run \`pond sync\` to fill it.`,
  },
  present: {
    code: "conflict",
    message: (store) => `Another process made the same table in ${store}. Run the same again.`,
  },
  damaged: {
    code: "storage_unavailable",
    message: (store) => `A file of the store ${store} is missing or cut. Run \`pond doctor\`.`,
  },
  full: {
    code: "storage_unavailable",
    message: (store) => `No space is left for the store ${store}. Make room and run again.`,
  },
  read_only: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} is read-only. Name another with --store.`,
  },
  misplaced: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} cannot be there: part of its path is a file. Name another with --store.`,
  },
  denied: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} refused access. Check the credentials with \`pond storage check\`.`,
  },
  rejected: {
    code: "validation_failed",
    message: () => "The engine does not understand this pattern. Check its brackets and quotes.",
  },
}

/**
 * What the caller is told. The engine's prose stays in `cause`, for the log: it can name hosts and files, never the
 * credentials, which do not come here.
 */
export function storeError(error: unknown, store: string, details: Readonly<Record<string, unknown>> = {}): PondError {
  if (error instanceof PondError) return error
  const failure = failureOf(error)
  if (failure === "other") {
    return new PondError(
      "internal",
      `The store ${store} failed in a way pond does not know. Run again with -v and report it.`,
      {
        details,
        cause: error,
      },
    )
  }
  const { code, message } = TOLD[failure]
  return new PondError(code, message(store), { details: { ...details, failure }, cause: error })
}
