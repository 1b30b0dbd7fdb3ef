/**
 * The standard streams. Writing is synchronous: what was written is out before the process ends, in the order it was
 * written, and a slow reader slows the writer down instead of filling memory.
 */
import { once } from "node:events"
import { fstatSync, statSync, writeSync } from "node:fs"
import { devNull } from "node:os"
import { errorCode } from "../system-error.ts"

export interface TextSink {
  readonly isTerminal: boolean
  /** The width in columns; undefined where nothing is known of it. */
  readonly columns: number | undefined
  /** How many lines it shows at once. */
  readonly rows: number | undefined
  write(text: string): void
}

/** What a person types. */
export interface LineSource {
  readonly isTerminal: boolean
  /** The next line; nothing at the end of the input, or when the signal comes first. */
  line(signal: AbortSignal): Promise<string | undefined>
}

export interface Streams {
  readonly out: TextSink
  readonly err: TextSink
  readonly input: LineSource
}

/** The reader of stdout went away (`pond search x | head -1`). Not a fault of anyone: the process just ends. */
export class BrokenPipe extends Error {
  override readonly name = "BrokenPipe"
}

const RETRY_MS = 2

/** A descriptor shared with a program that made it non-blocking answers EAGAIN when it is full: wait, then go on. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let rest = bytes
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if (errorCode(error) !== "EAGAIN") throw error
      Bun.sleepSync(RETRY_MS)
    }
  }
}

/**
 * What is known of a terminal. The runtime's own stream tells, and making it takes 1 ms: it is asked only where there may
 * be one, which is neither behind a pipe nor in a file. Its size may change at any time.
 */
function sinkOn(fd: number, stream: () => NodeJS.WriteStream, write: TextSink["write"]): TextSink {
  if (!mayBeTerminal(fd)) return { isTerminal: false, columns: undefined, rows: undefined, write }
  const terminal = stream()
  return {
    isTerminal: terminal.isTTY === true,
    get columns() {
      return terminal.columns
    },
    get rows() {
      return terminal.rows
    },
    write,
  }
}

function mayBeTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    // What timers and agents give a program that has nothing to read is a device, too.
    return stat.isCharacterDevice() && stat.rdev !== statSync(devNull, { throwIfNoEntry: false })?.rdev
  } catch {
    // Closed, or nothing that can be asked: then the runtime says.
    return true
  }
}

/** To stdout: what another program printed, byte for byte. */
export function writeOutBytes(bytes: Uint8Array): void {
  try {
    writeAll(1, bytes)
  } catch (error) {
    if (errorCode(error) === "EPIPE") throw new BrokenPipe("the reader of stdout is gone", { cause: error })
    throw error
  }
}

function standardOut(): TextSink {
  const write = (text: string) => writeOutBytes(new TextEncoder().encode(text))
  return sinkOn(1, () => process.stdout, write)
}

/** What cannot be said on stderr cannot be said at all: once it fails, the sink stays silent. */
function standardErr(): TextSink {
  let isOpen = true
  const write = (text: string) => {
    if (!isOpen) return
    try {
      writeAll(2, new TextEncoder().encode(text))
    } catch {
      isOpen = false
    }
  }
  return sinkOn(2, () => process.stderr, write)
}

/** stdin is opened by the first question, so that no verb waits for it or keeps it open without need. */
function standardIn(): LineSource {
  return {
    isTerminal: mayBeTerminal(0) && process.stdin.isTTY === true,
    line: async (signal) => {
      const { createInterface } = require("node:readline") as typeof import("node:readline")
      const reader = createInterface({ input: process.stdin, terminal: false })
      try {
        const [line] = (await Promise.race([once(reader, "line", { signal }), once(reader, "close", { signal })])) as [
          string?,
        ]
        return line
      } catch (error) {
        if (signal.aborted) return undefined
        throw error
      } finally {
        reader.close()
      }
    },
  }
}

export function standardStreams(): Streams {
  return { out: standardOut(), err: standardErr(), input: standardIn() }
}
