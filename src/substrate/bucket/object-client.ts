/**
 * What pond asks of an object store itself, whichever it is: `s3-client.ts`, `google-client.ts` and `azure-client.ts` say it
 * in the words of each. Keys are whole, below the bucket.
 */
import type { Location } from "../location.ts"
import { canonicalPath } from "./sign-request.ts"

export interface ObjectClient {
  /** In the order of their keys, a page at a time. */
  list(prefix: string, next?: string): Promise<ObjectPage>
  /** Undefined where there is no such object, as for reading. */
  stat(key: string): Promise<ObjectStat | undefined>
  /** From that byte to the end. */
  read(key: string, from?: number): Promise<Uint8Array | undefined>
  write(key: string, content: Uint8Array): Promise<void>
  /** Where there is none: false where there is one. */
  create(key: string, content: Uint8Array): Promise<boolean>
  /** One that is missing is no error. */
  remove(key: string): Promise<void>
}

export interface ObjectStat {
  readonly bytes: number
  readonly modifiedMs: number
}

export interface ObjectPage {
  readonly objects: readonly (ObjectStat & { readonly key: string })[]
  /** With what the next page is asked for. Undefined for the last. */
  readonly next: string | undefined
}

export interface OpenedClient {
  readonly client: ObjectClient
  /** The prefix of the store, without a slash at its end. */
  readonly root: string
}

/** `bucket/prefix` of a location, apart. */
export function bucketAndRoot({ uri }: Location): readonly [bucket: string, root: string] {
  const [bucket = "", ...prefix] = uri.slice(uri.indexOf("://") + 3).split("/")
  return [bucket, prefix.join("/")]
}

// --- Stores that are asked over HTTP ---------------------------------------------------------------------------------

export interface ObjectRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE"
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Gives a request what shows who asks: headers, or more of its URL. */
export type Authorize = (request: ObjectRequest) => Promise<ObjectRequest>

const ATTEMPTS = 4
const DELAY_FIRST_MS = 100

/** Asks again where the store is busy or the answer is lost, a few times. What is not a success is an answer as well. */
async function askObjectStore(request: ObjectRequest, authorize: Authorize): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { method, url, headers = {}, body } = await authorize(request)
      const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }), redirect: "manual" })
      if (attempt === ATTEMPTS || !(answer.status === 429 || answer.status >= 500)) return answer
      await answer.body?.cancel()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
    await Bun.sleep(DELAY_FIRST_MS * 2 ** (attempt - 1))
  }
}

/** In what the stores that are asked so differ. */
export interface ObjectDialect {
  /** The bucket, without a slash at its end. */
  readonly base: string
  readonly authorize: Authorize
  listQuery(prefix: string, next: string | undefined): Readonly<Record<string, string>>
  /** The elements of a listing. */
  readonly tags: {
    readonly key: string
    readonly bytes: string
    readonly modified: string
    readonly next: string
  }
  /** What the answer says where the bucket itself is missing. */
  readonly noBucket: string
  readonly writeHeaders: Readonly<Record<string, string>>
  /** A write happens only where there is no object. */
  readonly createHeaders: Readonly<Record<string, string>>
}

export function openHttpClient(dialect: ObjectDialect): ObjectClient {
  const { base, authorize, noBucket, writeHeaders, createHeaders } = dialect
  const ask = (request: ObjectRequest) => askObjectStore(request, authorize)
  const urlOf = (key: string) => new URL(`${base}${canonicalPath(`/${key}`)}`)
  return {
    list: async (prefix, next) => {
      const url = new URL(`${base}?${new URLSearchParams(dialect.listQuery(prefix, next))}`)
      const answer = await ask({ method: "GET", url })
      const said = await answer.text()
      if (!answer.ok) throw refusal(answer, said)
      return listedPage(said, dialect.tags)
    },
    stat: async (key) => {
      const answer = await ask({ method: "HEAD", url: urlOf(key) })
      if (answer.status === 404) return undefined
      if (!answer.ok) throw refusal(answer)
      const { headers } = answer
      return {
        bytes: Number(headers.get("content-length")),
        modifiedMs: Date.parse(headers.get("last-modified") ?? ""),
      }
    },
    read: async (key, from) => {
      const headers = from === undefined ? {} : { range: `bytes=${from}-` }
      const answer = await ask({ method: "GET", url: urlOf(key), headers })
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
      const said = await answer.text()
      if (answer.status === 404 && !said.includes(noBucket)) return undefined
      throw refusal(answer, said)
    },
    write: async (key, body) => {
      const answer = await ask({ method: "PUT", url: urlOf(key), headers: writeHeaders, body })
      if (!answer.ok) throw refusal(answer, await answer.text())
    },
    create: async (key, body) => {
      const headers = { ...writeHeaders, ...createHeaders }
      const answer = await ask({ method: "PUT", url: urlOf(key), headers, body })
      if (answer.status === 409 || answer.status === 412) return false
      if (!answer.ok) throw refusal(answer, await answer.text())
      return true
    },
    remove: async (key) => {
      const answer = await ask({ method: "DELETE", url: urlOf(key) })
      if (!answer.ok && answer.status !== 404) throw refusal(answer, await answer.text())
    },
  }
}

function listedPage(said: string, tags: ObjectDialect["tags"]): ObjectPage {
  const [bytes, times] = [xmlTexts(said, tags.bytes), xmlTexts(said, tags.modified)]
  const objects = xmlTexts(said, tags.key).map((key, at) => ({
    key,
    bytes: Number(bytes[at]),
    modifiedMs: Date.parse(times[at] ?? ""),
  }))
  const [next = ""] = xmlTexts(said, tags.next)
  return { objects, next: next === "" ? undefined : next }
}

/** Nothing of the answer is repeated but its code: it may say what was sent. */
export function refusal({ status }: Response, said = ""): Error {
  const [, code = "no reason"] = /<Code>(\w{1,80})<\/Code>/.exec(said) ?? []
  return new Error(`status ${status} (${code})`)
}

/** The texts of the elements of that name, in order. What object stores answer nests none of them in itself. */
function xmlTexts(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, "g"))].map(([, inner = ""]) =>
    unescapeXml(inner),
  )
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

export function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, entity) =>
    entity === undefined
      ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
      : (ENTITIES[entity] ?? whole),
  )
}
