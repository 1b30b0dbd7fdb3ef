/**
 * Admission: answered are requests under a host name of ours, from no page of another site, and with the token where one is
 * asked for. A loopback port is open to every user and every program of the machine, and a browser sends there what any
 * page tells it to. A Unix socket is open to its owner alone, so none is asked for there.
 */
import { timingSafeEqual } from "node:crypto"
import { PondError } from "../model/errors.ts"
import { sha256Of } from "../platform/sha256.ts"
import { PAGE_PATHS } from "./page.ts"

/** One request in, one answer out: what a server of any kind listens with. */
export type Fetch = (request: Request) => Promise<Response>

const OWN_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"])
/** They say that pond is there and which version, and nothing that is stored: what watches over a server has no token. */
const OPEN_PATHS = new Set(["/healthz", ...PAGE_PATHS])

/** Why a request is not answered; undefined if it is. */
export function refusalOf(request: Request, allowedHosts: readonly string[]): PondError | undefined {
  const host = (request.headers.get("host") ?? "").toLowerCase()
  if (!isHostAllowed(host, allowedHosts)) return wrongHost()
  const origin = request.headers.get("origin")
  const isAllowed = origin === null ? !isFromAnotherSite(request) : isOriginAllowed(origin, host, allowedHosts)
  return isAllowed ? undefined : wrongOrigin()
}

/**
 * A browser that was given the token as a password sends it with what any page loads from here, an image for example,
 * which has no `Origin`. Where the request comes from another site or port it says so.
 */
function isFromAnotherSite(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site")
  return site !== null && site !== "same-origin" && site !== "none"
}

/** A page of another site may lead a browser here under that site's name (DNS rebinding): only our own names are answered. */
function isHostAllowed(host: string, allowedHosts: readonly string[]): boolean {
  const { name } = split(host)
  return OWN_NAMES.has(name) || allowedHosts.some((allowed) => [name, host].includes(allowed.toLowerCase()))
}

/**
 * A browser says which page sends a request; programs send no `Origin`. A page of this machine is ours if it came from
 * the port that it asks: others are of other programs, such as a development server that shows foreign code.
 */
function isOriginAllowed(origin: string, host: string, allowedHosts: readonly string[]): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname, port, host: from } = new URL(origin)
  if (protocol !== "http:" && protocol !== "https:") return false
  const allowed = allowedHosts.map((each) => each.toLowerCase())
  if (allowed.includes(from)) return true
  const isOwnName = OWN_NAMES.has(hostname) || allowed.includes(hostname)
  return isOwnName && port === split(host).port
}

function split(host: string): { readonly name: string; readonly port: string } {
  const [, name = host, port = ""] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
  return { name, port: port === "80" ? "" : port }
}

/** Asks for the token before anything else is looked at. Never in the address: proxies and browsers keep those. */
export function requireToken(answer: Fetch, token: string): Fetch {
  const wanted = digest(token)
  return async (request) => {
    if (OPEN_PATHS.has(new URL(request.url).pathname)) return await answer(request)
    return timingSafeEqual(digest(tokenOf(request) ?? ""), wanted) ? await answer(request) : refused()
  }
}

/** Of equal length whatever was sent, so that the time of a comparison tells nothing. */
function digest(text: string): Uint8Array {
  return Buffer.from(sha256Of(text), "hex")
}

/** `Bearer TOKEN`, or `Basic`, which is what a browser makes of `http://pond:TOKEN@localhost`. */
function tokenOf(request: Request): string | undefined {
  const [, scheme, given = ""] = /^(Bearer|Basic) +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? []
  if (scheme?.toLowerCase() !== "basic") return scheme && given
  const userAndToken = Buffer.from(given, "base64").toString()
  return userAndToken.slice(userAndToken.indexOf(":") + 1)
}

function refused(): Response {
  const { code, message, details } = new PondError(
    "unauthorized",
    "This server asks for its token: send `Authorization: Bearer TOKEN`. `pond serve` prints where the token is.",
  )
  return Response.json(
    { error: { code, message, details } },
    { status: 401, headers: { "www-authenticate": 'Bearer realm="pond", Basic realm="pond"' } },
  )
}

function wrongHost(): PondError {
  return new PondError(
    "validation_failed",
    "This host name is not allowed. Start pond with --allowed-host to allow it.",
    { details: { header: "host" } },
  )
}

function wrongOrigin(): PondError {
  return new PondError(
    "validation_failed",
    "Requests from other sites are not allowed. Start pond with --allowed-host to allow one.",
    { details: { header: "origin" } },
  )
}
