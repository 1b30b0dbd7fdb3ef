/**
 * Pond's own command line, struck at a point of its work: when it says on stderr what `POND_STRIKE` holds, it is asked to
 * stop as Ctrl-C asks, or twice, or killed. So a process ends where a test wants it to, whatever the machine is like.
 */
import { listenForEnd } from "../../src/platform/process/signals.ts"
import { standardStreams } from "../../src/platform/process/streams.ts"
import { runPond } from "../../src/pond.ts"

const [how = "", ...words] = (process.env["POND_STRIKE"] ?? "").split(" ")
const point = words.join(" ")
const streams = standardStreams()
let isStruck = false
let asked: ((exitCode: number) => void) | undefined

function strike(said: string): void {
  if (isStruck || !said.includes(point)) return
  isStruck = true
  if (how === "kill") process.kill(process.pid, "SIGKILL")
  asked?.(130)
  if (how === "twice") asked?.(130)
}

const exitCode = await runPond(process.argv.slice(2), {
  streams: {
    ...streams,
    err: {
      ...streams.err,
      write: (text) => {
        streams.err.write(text)
        strike(text)
      },
    },
  },
  listenForEnd: (listener) => {
    asked = listener
    return listenForEnd(listener)
  },
})
process.exit(isStruck ? exitCode : 99)
