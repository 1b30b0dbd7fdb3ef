/**
 * The published HTTP operations, and nothing else: the page knows no more than `GET /v1/openapi.json` says. The token comes
 * in the fragment of the address, which no browser sends anywhere, and is kept for this tab alone.
 */

const TOKEN_KEY = "pond-token"

export class ApiError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Takes the token out of the address, so that it is in no bookmark and no history. */
export function takeTokenFromAddress(): void {
  const [, token] = /^#token=([\w-]+)/.exec(location.hash) ?? []
  if (token === undefined) return
  saveToken(token)
  const rest = location.hash.replace(/^#token=[\w-]+&?/, "")
  history.replaceState(null, "", `${location.pathname}#${rest}`)
}

export function saveToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token.trim())
}

/** Asks one operation. An aborted call never resolves with an answer that nobody waits for any more. */
export async function ask<Answer>(operation: string, input: object = {}, signal?: AbortSignal): Promise<Answer> {
  const token = sessionStorage.getItem(TOKEN_KEY)
  const isGet = operation === "status"
  const response = await fetch(new URL(`/v1/${operation}`, location.origin), {
    method: isGet ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    // Otherwise the browser asks for a password in a separate window.
    credentials: "omit",
    ...(isGet ? {} : { body: JSON.stringify({ protocol_version: 1, ...input }) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new ApiError("offline", "The server does not answer. Start it again with `pond serve`.")
  })
  const answer = (await response.json()) as Answer & {
    readonly error?: { readonly code: string; readonly message: string }
  }
  if (answer.error !== undefined) throw new ApiError(answer.error.code, answer.error.message)
  return answer
}

export interface ListedSession {
  readonly session_id: string
  readonly short_id: string
  readonly title?: string
  readonly source_agent: string
  readonly project: string
  readonly starred?: boolean
  readonly tags?: readonly string[]
  readonly note?: string
  readonly branch?: string
  readonly host: string
  readonly created_at: string
  readonly last_at: string
  readonly messages_count: number
}

export interface FacetCount {
  readonly key: string
  readonly sessions: number
}

export interface SessionPage {
  readonly facets?: { readonly projects: readonly FacetCount[]; readonly clients: readonly FacetCount[] }
  readonly sessions: readonly ListedSession[]
  readonly has_more: boolean
  readonly next_cursor?: string
}

export interface Filters {
  readonly project?: { readonly equals?: string; readonly contains?: string }
  readonly source_agent?: string
  readonly from_date?: string
  readonly tag?: string
  readonly starred?: boolean
  readonly has_errors?: boolean
  readonly tool?: string
  readonly model?: string
  readonly role?: string
  readonly include_subagents?: boolean
}

export interface Match {
  readonly message_id: string
  readonly session_id: string
  readonly ordinal: number
  readonly role: string
  readonly timestamp: string
  readonly prefix?: string
  readonly text: string
  readonly truncated: boolean
}

export interface SearchPage {
  readonly sessions: readonly {
    readonly session_id: string
    readonly short_id?: string
    readonly project: string
    readonly source_agent: string
    readonly title?: string
    readonly matched_message_count: number
    readonly session_messages_count: number
    readonly matches: readonly Match[]
  }[]
  readonly matched_total: number
  readonly has_more: boolean
  readonly next_cursor?: string
}

export interface SessionHead {
  readonly session: {
    readonly id: string
    readonly project: string
    readonly source_agent: string
    readonly created_at: string
    readonly parent_session_id?: string
  }
  readonly title?: string
  readonly children: readonly { readonly id: string; readonly source_agent: string; readonly title?: string }[]
}

export interface MapPoint {
  readonly anchor: string
  readonly at: string
  readonly size: number
  readonly kind: "user" | "assistant" | "tool" | "failed"
}

export interface RenderedPage {
  readonly html: string
  readonly map: readonly MapPoint[]
  readonly messages_remaining: number
  readonly next_after_id?: string
}

export interface Labels {
  readonly name?: string
  readonly starred: boolean
  readonly tags: readonly string[]
  readonly note?: string
}

export interface StatsRow {
  readonly key: string
  readonly sessions: number
  readonly count: number
  readonly failures?: number
}

export interface Stats {
  readonly rows: readonly StatsRow[]
  readonly sessions: number
  readonly count: number
}

export interface CostRow {
  readonly key: string
  readonly sessions: number
  readonly responses: number
  readonly total_tokens: number
  readonly cost_usd: number
}

export interface Cost {
  readonly rows: readonly CostRow[]
  readonly total: CostRow
  readonly unpriced_models: readonly { readonly model: string }[]
}

export interface RestorePlan {
  readonly fidelity: "native" | "foreign"
  readonly losses: readonly { readonly kind: string; readonly count: number; readonly example: string }[]
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly resume: { readonly command: readonly string[]; readonly cwd: string }
}

export interface ErasePlan {
  readonly sessions: readonly { readonly session_id: string; readonly title: string | null; readonly why: string }[]
  readonly messages: number
}
