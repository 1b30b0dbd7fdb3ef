/** `pond serve`: HTTP for programs, MCP for agents, on this machine. */
import { toPondError } from "../../model/errors.ts"
import { watch } from "../../operations/machine/sync-operations.ts"
import { perform } from "../../operations/operation.ts"
import type { Listening, Pond } from "../../operations/pond.ts"
import { flag } from "../flags.ts"
import { defineVerb } from "../verb.ts"

export const PORT = 9797
const LOOPBACK = ["127.0.0.1", "localhost", "::1"]

export const serve = defineVerb({
  flags: {
    host: flag.text("The address to listen on (default: 127.0.0.1).", "ADDRESS"),
    port: flag.wholeNumber(`The port to listen on (default: ${PORT}; 0 picks a free one).`, {
      min: 0,
      max: 65_535,
    }),
    socket: flag.text("Listen on this Unix socket instead, for your user only.", "PATH"),
    "no-token": flag.onOff("Answer without a token: any user or program on this machine can then read and write."),
    "no-page": flag.onOff("Do not serve the page at /, where sessions are read in a browser."),
    "allowed-host": flag.texts("Also accept requests for this host name.", "NAME"),
    "with-sync": flag.onOff("Also store what the clients write, within two seconds, as pond watch does."),
    transport: flag.choice("The transport (default: http); stdio is the same as pond mcp.", ["http", "stdio"]),
  },
  positionals: [],
  examples: ["serve", "serve --port 0", "serve --socket ~/.pond.sock"],
  lifetime: () => "server",
  run: async ({ pond, flags, signal, isJson, writeOut, onEnd }) => {
    if (flags.transport === "stdio") {
      await pond.surfaces.speakMcp(signal)
      return { exitCode: 0, isEndedBySignal: true }
    }
    const host = flags.host ?? "127.0.0.1"
    const isOpen = flags["no-token"]
    if (flags.socket === undefined && !LOOPBACK.includes(host))
      pond.host.log.warn(
        isOpen
          ? `pond listens on ${host} without a token: anyone who can reach this machine can read and write every session.`
          : `pond listens on ${host} without TLS: whoever reads the traffic reads the token and every answer.`,
      )
    const at = flags.socket === undefined ? { host, port: flags.port ?? PORT } : { socket: flags.socket }
    const server = await pond.surfaces.listen({
      at,
      allowedHosts: flags["allowed-host"],
      isTokenRequired: !isOpen,
      hasPage: !flags["no-page"],
    })
    onEnd(() => server.stop())
    writeOut(
      isJson
        ? `${JSON.stringify({ protocol_version: 1, address: server.address, token_file: server.token?.path ?? null })}\n`
        : listeningText(server),
    )
    await Promise.all([ended(signal), flags["with-sync"] ? storeChanges(pond, signal) : undefined])
    return { exitCode: 0, isEndedBySignal: true }
  },
})

/** Until the signal. Where another process watches already, that one stores them, and this one goes on serving. */
export async function storeChanges(pond: Pond, signal: AbortSignal): Promise<void> {
  try {
    await perform(watch, { pond, signal, onReport: () => undefined }, {})
  } catch (error) {
    if (!signal.aborted) pond.host.log.warn(`${toPondError(error).message} Serving without storing changes.`)
  }
}

/** The token is printed once, when it is made: terminals and journals are kept. */
function listeningText({ address, token }: Listening): string {
  if (token === undefined) return `Listening on ${address}\n`
  if (token.isNew) {
    const link = address.replace("://", `://pond:${token.value}@`)
    return `Listening on ${address}\nWith its token: ${link}\nThe token is kept in ${token.path}\n`
  }
  return `Listening on ${address}\nThe token is in ${token.path}\n`
}

export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
