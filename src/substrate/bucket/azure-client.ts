/**
 * Objects in Azure Blob Storage, with the credentials that the engine is given: the key of the account, the secret of an
 * application, or a shared access signature.
 */
import { createHmac } from "node:crypto"
import type { Clock } from "../../platform/host/clock.ts"
import type { Location } from "../location.ts"
import { askToken, keepToken } from "./access-token.ts"
import {
  type Authorize,
  bucketAndRoot,
  type ObjectRequest,
  type OpenedClient,
  openHttpClient,
} from "./object-client.ts"

const VERSION = "2023-11-03"
const LOGIN = "https://login.microsoftonline.com"
const SCOPE = "https://storage.azure.com/.default"

/** Nothing where the engine finds its credentials in ways that pond has not, such as those of a machine of Azure's. */
export function openAzureClient(location: Location, clock: Clock): OpenedClient | undefined {
  const options = location.storageOptions()
  const account = options["azure_storage_account_name"]
  const authorize = authorizeBy(options, clock)
  if (account === undefined || authorize === undefined) return undefined
  const [container, root] = bucketAndRoot(location)
  const host = options["azure_storage_endpoint"] ?? `https://${account}.blob.core.windows.net`
  const client = openHttpClient({
    base: `${host.replace(/\/+$/, "")}/${container}`,
    authorize: (asked) => {
      const own = { "x-ms-version": VERSION, "x-ms-date": new Date(clock.nowMs()).toUTCString() }
      return authorize({ ...asked, headers: { ...asked.headers, ...own } })
    },
    listQuery: (prefix, marker) => ({
      restype: "container",
      comp: "list",
      prefix,
      ...(marker === undefined ? {} : { marker }),
    }),
    tags: { key: "Name", bytes: "Content-Length", modified: "Last-Modified", next: "NextMarker" },
    noBucket: "ContainerNotFound",
    writeHeaders: { "x-ms-blob-type": "BlockBlob", "content-type": "application/octet-stream" },
    createHeaders: { "if-none-match": "*" },
  })
  return { client, root }
}

/** In the order in which the engine looks. */
function authorizeBy(options: Readonly<Record<string, string>>, clock: Clock): Authorize | undefined {
  const {
    azure_storage_account_name: account,
    azure_storage_account_key: key,
    azure_storage_sas_key: signature,
    azure_client_id: client_id,
    azure_client_secret: client_secret,
    azure_tenant_id: tenant,
  } = options
  if (account !== undefined && key !== undefined)
    return (request) => Promise.resolve(withSharedKey(request, account, key))
  if (client_id !== undefined && client_secret !== undefined && tenant !== undefined) {
    const form = { grant_type: "client_credentials", client_id, client_secret, scope: SCOPE }
    const url = `${LOGIN}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
    const token = keepToken((nowMs) => askToken(url, form, nowMs), clock)
    return async (request) => ({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${await token()}` },
    })
  }
  if (signature === undefined) return undefined
  return (request) => {
    const url = new URL(request.url)
    for (const [name, value] of new URLSearchParams(signature.replace(/^\?/, ""))) url.searchParams.set(name, value)
    return Promise.resolve({ ...request, url })
  }
}

/** The headers that a signature covers by their place, in this order; others begin with `x-ms-`. */
const SIGNED = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-md5",
  "content-type",
  "date",
  "if-modified-since",
  "if-match",
  "if-none-match",
  "if-unmodified-since",
  "range",
]

function withSharedKey(request: ObjectRequest, account: string, key: string): ObjectRequest {
  const { method, url, headers = {}, body } = request
  const length = body === undefined || body.length === 0 ? "" : `${body.length}`
  const byPlace: Readonly<Record<string, string>> = { ...headers, "content-length": length }
  const text = [
    method,
    ...SIGNED.map((name) => byPlace[name] ?? ""),
    ...sortedLines(Object.entries(headers).filter(([name]) => name.startsWith("x-ms-"))),
    `/${account}${url.pathname}`,
    ...sortedLines([...url.searchParams]),
  ].join("\n")
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64")
  return { ...request, headers: { ...headers, authorization: `SharedKey ${account}:${signature}` } }
}

function sortedLines(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  return pairs.map(([name, value]) => `${name.toLowerCase()}:${value}`).toSorted((one, other) => (one < other ? -1 : 1))
}
