/** `pond serve`: HTTP for programs, MCP for agents, on this machine. */
import type { Listening } from "../../operations/pond.ts"
import { flag } from "../flags.ts"
import { defineVerb } from "../verb.ts"

const PORT = 9797
const LOOPBACK = ["127.0.0.1", "localhost", "::1"]

export const serve = defineVerb({
  flags: {
    host: flag.text("The address to listen on (default: 127.0.0.1).", "ADDRESS"),
    port: flag.wholeNumber(`The port to listen on (default: ${PORT}; 0 picks a free one).`, {
      min: 0,
      max: 65_535,
    }),
    socket: flag.text("Listen on this Unix socket instead, for your user only.", "PATH"),
    "no-token": flag.onOff("Answer without a token: every user and program of this machine may then read and write."),
    "allowed-host": flag.texts("Also accept requests for this host name.", "NAME"),
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
    const server = await pond.surfaces.listen({ at, allowedHosts: flags["allowed-host"], isTokenRequired: !isOpen })
    onEnd(() => server.stop())
    writeOut(
      isJson
        ? `${JSON.stringify({ protocol_version: 1, address: server.address, token_file: server.token?.path ?? null })}\n`
        : listeningText(server),
    )
    await ended(signal)
    return { exitCode: 0, isEndedBySignal: true }
  },
})

/** The token is printed once, when it is made: terminals and journals are kept. */
function listeningText({ address, token }: Listening): string {
  if (token === undefined) return `Listening on ${address}\n`
  if (token.isNew) {
    const link = address.replace("://", `://pond:${token.value}@`)
    return `Listening on ${address}\nWith its token: ${link}\nThe token is kept in ${token.path}\n`
  }
  return `Listening on ${address}\nThe token is in ${token.path}\n`
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
