/**
 * The engine's binding throws one kind of `Error` whose text is the whole chain of causes. Only this file reads that
 * text; each line of the table is proved by a test that makes the real engine say it.
 */
import { type ErrorCode, PondError } from "../../model/errors.ts"

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
  /** The process has as many files open as it may. */
  | "files_out"
  /** A file lies where a directory of the store's path would have to be. */
  | "misplaced"
  | "denied"
  | "no_bucket"
  /** What was asked is not understood: a regular expression that is none, for one. */
  | "rejected"
  /** A read that was given a time did not end within it. */
  | "late"
  | "other"

/** The first that matches counts: an answer that names a full disk or a wrong key is often wrapped in one that names less. */
const PROSE: readonly (readonly [failure: Failure, pattern: RegExp])[] = [
  ["full", /No space left on device/],
  ["read_only", /Read-only file system/],
  ["files_out", /Too many open files/],
  ["misplaced", /Not a directory/],
  ["denied", /Permission denied|status: 40[13]\b|code: 40[13]\b|AccessDenied|Failed to get \w+ credentials/],
  ["no_bucket", /NoSuchBucket|ContainerNotFound/],
  [
    "conflict",
    /Commit conflict for version|Retryable commit conflict|Incompatible transaction|Too many concurrent writers/,
  ],
  ["rejected", /regex parse error|Regular expression did not compile/],
  ["late", /Query timeout after/],
  ["present", /Table '.*' already exists/],
  ["absent", /Table '.*' was not found/],
  ["unreachable", /Generic (?:S3|GCS|MicrosoftAzure) error|store: "(?:S3|GCS|MicrosoftAzure)"|error sending request/],
  [
    "damaged",
    /Invalid range .* for object of size|file size is too small|invalid magic|failed to decode Protobuf|Not found: .*\/(?:data|_deletions|_indices)\//,
  ],
]

export function failureOf(error: unknown): Failure {
  const text = error instanceof Error ? error.message : String(error)
  return PROSE.find(([, pattern]) => pattern.test(text))?.[0] ?? "other"
}

interface ErrorText {
  readonly code: ErrorCode
  readonly message: (store: string) => string
}

const ERROR_TEXTS: Readonly<Record<Exclude<Failure, "other">, ErrorText>> = {
  conflict: { code: "conflict", message: (store) => `The store ${store} is busy with other writers. Try again.` },
  unreachable: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} does not answer. Check its URL, the network and the credentials.`,
  },
  absent: {
    code: "not_found",
    message: (store) => `The store ${store} has no such table. Run \`pond sync\` to create it.`,
  },
  present: {
    code: "conflict",
    message: (store) => `Another process created the same table in ${store}. Try again.`,
  },
  damaged: {
    code: "storage_unavailable",
    message: (store) => `A file of the store ${store} is missing or truncated. Run \`pond doctor\`.`,
  },
  full: {
    code: "storage_unavailable",
    message: (store) => `No space left for the store ${store}. Free some space and try again.`,
  },
  read_only: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} is read-only. Choose another with --store.`,
  },
  files_out: {
    code: "storage_unavailable",
    message: (store) => `Too many open files in the store ${store}. Raise the limit (\`ulimit -n\`) and try again.`,
  },
  misplaced: {
    code: "storage_unavailable",
    message: (store) =>
      `The store ${store} cannot be created: part of its path is a file. Choose another with --store.`,
  },
  denied: {
    code: "storage_unavailable",
    message: (store) => `The store ${store} denied access. Check the credentials: see \`pond help storage\`.`,
  },
  no_bucket: {
    code: "storage_unavailable",
    message: (store) => `The bucket of the store ${store} does not exist. Create it, or choose another with --store.`,
  },
  late: {
    code: "interrupted",
    message: (store) => `The store ${store} timed out. Request less at once, or try again.`,
  },
  rejected: {
    code: "validation_failed",
    message: () => "Invalid or too large pattern. Check its brackets, quotes and repetitions.",
  },
}

/** Of a commit that others overtook too often. */
export function busyStore(store: string, attempts: number): PondError {
  const { code, message } = ERROR_TEXTS.conflict
  return new PondError(code, message(store), { details: { attempts, failure: "conflict" } })
}

/** Of a local store whose folder cannot be one. */
export function misplacedStore(store: string): PondError {
  const { code, message } = ERROR_TEXTS.misplaced
  return new PondError(code, message(store), { details: { failure: "misplaced" } })
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
      `The store ${store} failed unexpectedly. Run it again with -v and report the output.`,
      {
        details,
        cause: error,
      },
    )
  }
  const { code, message } = ERROR_TEXTS[failure]
  return new PondError(code, message(store), { details: { ...details, failure }, cause: error })
}
