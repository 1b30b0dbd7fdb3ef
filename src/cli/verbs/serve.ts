/** `pond serve`: HTTP for programs, MCP for agents, on this machine. */
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
    if (!LOOPBACK.includes(host))
      pond.host.log.warn(`pond listens on ${host}: anyone who can reach this machine can read every session.`)
    const at = flags.socket === undefined ? { host, port: flags.port ?? PORT } : { socket: flags.socket }
    const server = await pond.surfaces.listen({ at, allowedHosts: flags["allowed-host"] })
    onEnd(() => server.stop())
    writeOut(
      isJson
        ? `${JSON.stringify({ protocol_version: 1, address: server.address })}\n`
        : `Listening on ${server.address}\n`,
    )
    await ended(signal)
    return { exitCode: 0, isEndedBySignal: true }
  },
})

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
