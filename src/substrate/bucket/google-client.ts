/**
 * Objects in Google Cloud Storage, by its XML interface, with the account that the engine is given: one of a service, which
 * signs its own tokens, or that of a user as `gcloud auth application-default login` leaves it.
 */
import { createSign } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Clock } from "../../platform/host/clock.ts"
import type { Location } from "../location.ts"
import { askToken, keepToken, type TokenSource } from "./access-token.ts"
import { bucketAndRoot, type OpenedClient, openHttpClient } from "./object-client.ts"

const HOST = "https://storage.googleapis.com"
const TOKENS = "https://oauth2.googleapis.com/token"
const SCOPE = "https://www.googleapis.com/auth/cloud-platform"

/** As Google writes it into a file of credentials; the first two are the engine's words for an emulator. */
interface Account {
  readonly gcs_base_url?: string
  readonly disable_oauth?: boolean
  readonly type?: string
  readonly client_email?: string
  readonly private_key?: string
  readonly private_key_id?: string
  readonly client_id?: string
  readonly client_secret?: string
  readonly refresh_token?: string
}

/** Nothing where the engine finds its credentials in ways that pond has not, such as those of a machine of Google's. */
export function openGoogleClient(location: Location, clock: Clock): OpenedClient | undefined {
  const account = accountOf(location.storageOptions())
  if (account === undefined) return undefined
  const source = accountTokens(account)
  if (source === undefined && account.disable_oauth !== true) return undefined
  const token = source === undefined || account.disable_oauth === true ? undefined : keepToken(source, clock)
  const [bucket, root] = bucketAndRoot(location)
  const client = openHttpClient({
    base: `${(account.gcs_base_url ?? HOST).replace(/\/+$/, "")}/${bucket}`,
    authorize: async (asked) => {
      if (token === undefined) return asked
      return { ...asked, headers: { ...asked.headers, authorization: `Bearer ${await token()}` } }
    },
    listQuery: (prefix, next) => ({
      "list-type": "2",
      prefix,
      ...(next === undefined ? {} : { "continuation-token": next }),
    }),
    tags: { key: "Key", bytes: "Size", modified: "LastModified", next: "NextContinuationToken" },
    noBucket: "NoSuchBucket",
    writeHeaders: {},
    createHeaders: { "x-goog-if-generation-match": "0" },
  })
  return { client, root }
}

/** In the order in which the engine looks. What cannot be read is for the engine to complain of. */
function accountOf(options: Readonly<Record<string, string>>): Account | undefined {
  const { google_service_account_key: key, google_service_account: file } = options
  const path = file ?? options["google_application_credentials"]
  try {
    if (key !== undefined) return JSON.parse(key) as Account
    return path === undefined ? undefined : (JSON.parse(readFileSync(path, "utf8")) as Account)
  } catch {
    return undefined
  }
}

function accountTokens(account: Account): TokenSource | undefined {
  const { client_email: email, private_key: key, client_id: id, client_secret: secret, refresh_token } = account
  if (email !== undefined && key !== undefined)
    return (nowMs) => Promise.resolve(signedToken({ email, key, keyId: account.private_key_id }, nowMs))
  if (id === undefined || secret === undefined || refresh_token === undefined) return undefined
  return (nowMs) =>
    askToken(TOKENS, { grant_type: "refresh_token", client_id: id, client_secret: secret, refresh_token }, nowMs)
}

const TOKEN_SECONDS = 3600

/** A token that the account signs itself, which Google takes without having given one. */
function signedToken(
  { email, key, keyId }: { readonly email: string; readonly key: string; readonly keyId: string | undefined },
  nowMs: number,
) {
  const seconds = Math.floor(nowMs / 1000)
  const head = { alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) }
  const claims = { iss: email, sub: email, scope: SCOPE, iat: seconds, exp: seconds + TOKEN_SECONDS }
  const text = [head, claims].map((each) => Buffer.from(JSON.stringify(each)).toString("base64url")).join(".")
  const signature = createSign("RSA-SHA256").update(text).sign(key, "base64url")
  return { token: `${text}.${signature}`, untilMs: nowMs + TOKEN_SECONDS * 1000 }
}
