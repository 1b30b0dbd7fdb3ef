/** `pond open`: the page of this store in the browser, served by whoever serves it already, or by this process. */
import { PondError } from "../../model/errors.ts"
import { visibleLine } from "../../model/visible.ts"
import { fullSessionId } from "../../operations/store/session-ids.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { openBrowser } from "../../platform/process/open-browser.ts"
import { flag } from "../flags.ts"
import { defineVerb, type Streamed, type VerbContext } from "../verb.ts"
import { ended, PORT, storeChanges } from "./serve.ts"

const flags = {
  port: flag.wholeNumber(`The port to look for a server on, or to listen on (default: ${PORT}).`, {
    min: 0,
    max: 65_535,
  }),
  "no-browser": flag.onOff("Print the address instead of opening it. It contains the token."),
  "no-sync": flag.onOff("Do not store what clients write in the meantime."),
}

export const open = defineVerb({
  flags,
  positionals: [{ name: "session", summary: "Open the page at this session.", count: "optional", words: "sessions" }],
  examples: ["open", "open SESSION", "open --no-browser"],
  lifetime: () => "server",
  run: async (context) => {
    const { pond, words, signal, onEnd } = context
    const port = context.flags.port ?? PORT
    const path = words[0] === undefined ? "/" : await sessionPath(context, words[0])
    const running = port === 0 ? undefined : await pond.surfaces.findServer(port)
    if (running !== undefined) {
      show(context, running, path)
      return { exitCode: 0 }
    }
    const at = { host: "127.0.0.1", port }
    const server = await pond.surfaces.listen({ at, allowedHosts: [], isTokenRequired: true, hasPage: true })
    onEnd(() => server.stop())
    show(context, { address: server.address, token: server.token?.value ?? "" }, path)
    if (!context.isJson) context.writeOut("Ctrl-C stops it.\n")
    await Promise.all([ended(signal), context.flags["no-sync"] ? undefined : storeChanges(pond, signal)])
    return { exitCode: 0, isEndedBySignal: true } satisfies Streamed
  },
})

type Context = VerbContext<typeof flags>

async function sessionPath({ pond }: Context, given: string): Promise<string> {
  const sessions = await pond.sessions()
  const id = await fullSessionId(sessions, given)
  if ((await sessions.session(id)) === undefined)
    throw new PondError("not_found", `No session ${given}. \`pond list\` shows what is stored.`, {
      details: { session_id: given },
    })
  return `/session/${encodeURIComponent(id)}`
}

interface Served {
  readonly address: string
  readonly token: string
}

/** The token stands behind the `#`, which browsers send nowhere. */
function show(
  { pond, flags: { "no-browser": isPrinted }, isJson, writeOut }: Context,
  served: Served,
  path: string,
): void {
  const url = `${served.address}/#token=${served.token}&${path}`
  const { environment } = pond.host
  const isOpened = !isPrinted && openBrowser(url, ensureWritable(pond.host.path("state")), environment)
  if (isJson) writeOut(`${JSON.stringify({ protocol_version: 1, address: served.address, url, opened: isOpened })}\n`)
  else if (isOpened) writeOut(`Opened ${visibleLine(served.address)} in your browser.\n`)
  else writeOut(`Open this address in a browser:\n${url}\n`)
}
