/**
 * Signs a request to S3 (AWS Signature Version 4). The body is left out of the signature: what comes back is compared with
 * what was sent where that matters, and HTTPS protects it on the way. Queries and headers are signed as S3 reads them.
 */
import { createHash, createHmac } from "node:crypto"

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  readonly region: string
}

const SERVICE = "s3"
const ALGORITHM = "AWS4-HMAC-SHA256"

/**
 * The headers that the request needs; `headers` are those of it that are signed too. The path and the query of the URL are
 * in the form of S3 already.
 */
export function signRequest(
  { accessKeyId, secretAccessKey, sessionToken, region }: S3Credentials,
  request: { readonly method: string; readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  nowMs: number,
): Record<string, string> {
  const moment = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "")
  const day = moment.slice(0, 8)
  const own: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    "x-amz-date": moment,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  }
  const signed = Object.entries({ ...own, host: request.url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const names = signed.map(([name]) => name).join(";")
  const canonical = [
    request.method,
    request.url.pathname,
    request.url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    "UNSIGNED-PAYLOAD",
  ].join("\n")
  const scope = `${day}/${region}/${SERVICE}/aws4_request`
  const text = [ALGORITHM, moment, scope, createHash("sha256").update(canonical).digest("hex")].join("\n")
  const key = [day, region, SERVICE, "aws4_request"].reduce<Buffer | string>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${secretAccessKey}`,
  )
  const signature = createHmac("sha256", key).update(text).digest("hex")
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...own, authorization }
}

/** As S3 encodes it: every byte but the unreserved ones, and no slash of a path. */
export function canonicalPath(path: string): string {
  return path.split("/").map(encoded).join("/")
}

export function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted(([one, own], [other, others]) =>
      Buffer.compare(Buffer.from(`${one} ${own}`), Buffer.from(`${other} ${others}`)),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join("&")
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  )
}
