/** A server of pond that runs on this machine already, for this store. */
import type { Host } from "../platform/host/host.ts"
import { openToken } from "./token.ts"

const WAIT_MS = 3000

export interface FoundServer {
  readonly address: string
  readonly token: string
}

/**
 * The server on this port, if it is pond, takes this user's token and serves the store. The token goes only to a program
 * that says it is pond on the loopback interface, where `pond serve` would listen.
 */
export async function findServer(host: Host, port: number, store: string): Promise<FoundServer | undefined> {
  const address = `http://127.0.0.1:${port}`
  const health = await answerOf(`${address}/healthz`)
  if (health?.["protocol_version"] === undefined) return undefined
  const token = openToken(host).value
  const status = await answerOf(`${address}/v1/status`, token)
  return status?.["store"] === store ? { address, token } : undefined
}

async function answerOf(url: string, token?: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(WAIT_MS), redirect: "error" })
    return response.ok ? ((await response.json()) as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
