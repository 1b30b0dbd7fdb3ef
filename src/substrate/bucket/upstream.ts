/** Requests as the gateway of a bucket passes them on: signed with the real credentials, to the real store. */
import type { Clock } from "../../platform/host/clock.ts"
import { canonicalPath, type S3Credentials, signRequest } from "./sign-request.ts"

export interface ObjectRequest {
  readonly method: string
  /** Empty for one about the bucket, such as a listing. */
  readonly key: string
  /** In the form of S3. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type AskStore = (request: ObjectRequest) => Promise<Response>

export interface UpstreamOptions {
  readonly credentials: S3Credentials
  /** Where the objects are; without path style the bucket is a part of the host. */
  readonly endpoint: string
  readonly bucket: string
  readonly isPathStyle: boolean
  readonly clock: Clock
}

const UNSIGNED = new Set(["range", "if-match", "if-none-match", "content-type", "accept"])

export function openUpstream({ endpoint, bucket, isPathStyle, credentials, clock }: UpstreamOptions): AskStore {
  const base = endpoint.replace(/\/+$/, "")
  return async ({ method, key, query, headers, body }) => {
    const path = canonicalPath(`/${[...(isPathStyle ? [bucket] : []), ...(key === "" ? [] : [key])].join("/")}`)
    const url = new URL(`${base}${path}${query === "" ? "" : `?${query}`}`)
    const signedToo = Object.fromEntries(Object.entries(headers).filter(([name]) => !UNSIGNED.has(name)))
    const signed = signRequest(credentials, { method, url, headers: signedToo }, clock.nowMs())
    const hasBody = body.length > 0 || method === "PUT" || method === "POST"
    const reply = await fetch(url, {
      method,
      headers: { ...headers, ...signed, "accept-encoding": "identity" },
      ...(hasBody ? { body } : {}),
      redirect: "manual",
    })
    return method === "HEAD" ? reply : await wholeReply(reply)
  }
}

/** The engine refuses an answer that does not say how long it is, as one that is passed on in pieces does not. */
async function wholeReply(reply: Response): Promise<Response> {
  const headers = [...reply.headers].filter(([name]) => name !== "transfer-encoding" && name !== "content-length")
  const body = await reply.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, { status: reply.status, headers })
}

const OF_CONNECTION = ["host", "connection", "content-length", "accept-encoding", "user-agent"]
const OF_SIGNATURE = ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
const UNSENT = new Set([...OF_CONNECTION, ...OF_SIGNATURE])

/** What the store is to know of the headers of a request of the engine. */
export function passedHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !UNSENT.has(name)))
}
