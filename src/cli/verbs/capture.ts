/**
 * `pond capture -- COMMAND`: runs a client in a job, and keeps its sessions. The command has stdin, stdout and stderr to
 * itself, gets pond's signals, and its exit code is pond's. Whatever goes wrong with the keeping is said on stderr, and
 * fails no job.
 */
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { toPondError } from "../../model/errors.ts"
import { counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { Captured } from "../../operations/machine/capture.ts"
import { capture as operation } from "../../operations/machine/capture-operations.ts"
import { perform } from "../../operations/operation.ts"
import { findProgram } from "../../platform/process/programs.ts"
import { BrokenPipe, writeOutBytes } from "../../platform/process/streams.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb, type Outcome, type Streamed, type VerbContext } from "../verb.ts"

const args = argumentsFor(operation.input, {
  artifacts: { hint: "DIR" },
  printed: { hint: "FILE" },
  format: {},
  since: { hint: "DATE" },
  report: flag.text("Write what was stored to this file, as JSON. Without a command, use --json.", "FILE"),
})
type CaptureFlags = typeof args.flags

/** As a shell says it. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
/** A bucket that never answers, or another pond that holds the store, would keep a job until its runner ends it as failed. */
const KEEPING_MAX_MS = 10 * 60_000
/** Clocks of runners step back while they are set. */
const SLACK_MS = 2_000

export const capture = defineVerb({
  flags: args.flags,
  positionals: [
    { name: "command", summary: "The command to run, after --. Without one, only store sessions.", count: "many" },
  ],
  examples: [
    'capture -- claude -p "Review this change."',
    'capture --artifacts sessions -- claude -p "Fix the tests."',
    "capture --since 6h --artifacts sessions",
    "capture --since 6h --printed execution.json",
  ],
  run: async (context) => {
    const { words, pond, signal } = context
    if (words.length === 0) {
      const captured = await perform(operation, { pond, signal }, args.inputOf(context))
      await report(context, captured, 0)
      return capturedOutcome(captured)
    }
    return await captureCommand(context)
  },
})

async function captureCommand(context: VerbContext<CaptureFlags>): Promise<Streamed> {
  const { pond, words } = context
  const since = new Date(pond.host.clock.nowMs() - SLACK_MS).toISOString()
  const kept = leavesNone(words) ? fileForOutput(context) : undefined
  const exitCode = await runCommand(context, kept)
  const late = AbortSignal.timeout(KEEPING_MAX_MS)
  try {
    const request = { since, ...(kept === undefined ? {} : { printed: kept }), ...args.inputOf(context) }
    // A signal that stopped the command does not stop the keeping.
    const captured = await Promise.race([perform(operation, { pond, signal: late }, request), lateness(late)])
    pond.host.log.info(summaryOf(captured, words))
    await report(context, captured, exitCode).catch((error: unknown) =>
      pond.host.log.warn(`The report of what was stored was not written: ${reasonOf(error)}`),
    )
  } catch (error) {
    const why = late.aborted ? `It took more than ${KEEPING_MAX_MS / 60_000} minutes.` : toPondError(error).message
    pond.host.log.warn(`The sessions of this command were not stored: ${why}`)
  } finally {
    if (kept !== undefined) rmSync(dirname(kept), { recursive: true, force: true })
  }
  return { exitCode }
}

async function report({ pond, flags }: VerbContext<CaptureFlags>, captured: Captured, exitCode: number): Promise<void> {
  if (flags.report !== undefined) {
    const document = { protocol_version: 1, ...captured, exit_code: exitCode }
    await Bun.write(flags.report, `${JSON.stringify(document)}\n`)
  }
  noteOnPage(pond.host.environment["GITHUB_STEP_SUMMARY"], captured)
}

const NO_SESSION = /--(?:no-session-persistence|ephemeral)\b/

/** It keeps no session, but prints all of it: then its output is read on its way. A command of a shell is one word. */
function leavesNone(words: readonly string[]): boolean {
  const line = words.join(" ")
  return NO_SESSION.test(line) && /\bstream-json\b/.test(line)
}

/** Fails when it is too late: a server that never answers a request does not hear of a signal. */
function lateness(late: AbortSignal): Promise<never> {
  return new Promise((_, reject) => late.addEventListener("abort", () => reject(late.reason), { once: true }))
}

/** Nothing where there is no place for it: the command runs all the same. */
function fileForOutput({ pond }: VerbContext<CaptureFlags>): string | undefined {
  try {
    return join(mkdtempSync(join(tmpdir(), "pond-capture-")), "printed")
  } catch (error) {
    pond.host.log.warn(`What this command prints is not kept: ${reasonOf(error)}`)
    return undefined
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Its exit code; of a command that a signal ended, 128 and the signal's number. */
async function runCommand(context: VerbContext<CaptureFlags>, kept?: string): Promise<number> {
  const { pond, words, handOver } = context
  const [name = "", ...rest] = words
  const path = findProgram(name, pond.host.environment)
  if (path === undefined) {
    pond.host.log.warn(`${visibleLine(name)} is not on the PATH, so it was not run.`)
    return NOT_FOUND
  }
  const child = spawned(context, [path, ...rest], kept === undefined ? "inherit" : "pipe")
  if (child === undefined) return NOT_EXECUTABLE
  const copied = kept === undefined ? undefined : copyOutput(context, child.stdout as ReadableStream<Uint8Array>, kept)
  const takeBack = handOver(child)
  // A terminal sends Ctrl-C to everyone in front of it; a runner sends it to pond alone.
  const interrupt = () => child.kill("SIGINT")
  if (process.stdin.isTTY !== true) process.on("SIGINT", interrupt)
  await copied
  const exitCode = await child.exited
  process.off("SIGINT", interrupt)
  takeBack()
  const signals: Readonly<Record<string, number>> = constants.signals
  return child.signalCode === null ? exitCode : 128 + (signals[child.signalCode] ?? 0)
}

/** Nothing of a file that the system cannot run, such as a script that does not say by what. */
function spawned({ pond }: VerbContext<CaptureFlags>, command: string[], stdout: "inherit" | "pipe") {
  try {
    const env = pond.host.environment as Record<string, string>
    return Bun.spawn(command, { env, stdin: "inherit", stdout, stderr: "inherit" })
  } catch (error) {
    pond.host.log.warn(`${visibleLine(command[0] ?? "")} cannot be run: ${reasonOf(error)}`)
    return undefined
  }
}

/** What it prints is passed on as it comes; who reads it decides how fast. A full disk ends the keeping alone. */
async function copyOutput(
  { pond }: VerbContext<CaptureFlags>,
  output: ReadableStream<Uint8Array>,
  path: string,
): Promise<void> {
  let file: number | undefined = openSync(path, "w", 0o600)
  const stopKeeping = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  try {
    for await (const piece of output) {
      try {
        if (file !== undefined) writeFileSync(file, piece)
      } catch (error) {
        pond.host.log.warn(`Not all that this command prints is kept: ${reasonOf(error)}`)
        stopKeeping()
      }
      writeOutBytes(piece)
    }
  } catch (error) {
    // Its reader went away. Leaving the loop closes the pipe, which tells the command as it would be told without pond.
    if (!(error instanceof BrokenPipe)) throw error
  } finally {
    stopKeeping()
  }
}

function summaryOf({ sessions, messages, failed, credentials }: Captured, words: readonly string[]): string {
  const stored = `pond: ${counted(messages, "new message")} stored, ${counted(sessions.length, "session")} of this command.`
  const files = sessions.flatMap(({ file }) => file ?? [])
  const pages =
    files.length === 0
      ? ""
      : ` ${counted(files.length, "page")} written, ${counted(credentials, "credential")} taken out.`
  const lost = failed === 0 ? "" : ` ${counted(failed, "session")} could not be stored: run pond sync -v.`
  return `${stored}${pages}${lost}${sessions.length === 0 ? ` ${whyNone(words)}` : ""}`
}

function whyNone(words: readonly string[]): string {
  if (NO_SESSION.test(words.join(" ")))
    return "The client was told to keep no session: remove that flag, or use Claude Code with --output-format stream-json."
  return "No new session was found where the client keeps them: see pond adapters discover."
}

/** The page of a job on GitHub. */
function noteOnPage(path: string | undefined, { sessions }: Captured): void {
  if (path === undefined || path === "" || sessions.length === 0) return
  const cell = (text: string) =>
    visibleLine(text)
      .replace(/[|<>&`\\[\]]/g, " ")
      .slice(0, 80)
  const rows = sessions.map(
    ({ source_agent, session_id, messages_count, title = "" }) =>
      `| ${cell(source_agent)} | ${cell(session_id)} | ${messages_count} | ${cell(title)} |`,
  )
  const head = [
    "### Sessions stored by pond",
    "",
    "| client | session | messages | title |",
    "| --- | --- | --- | --- |",
  ]
  appendFileSync(path, `${[...head, ...rows, ""].join("\n")}\n`)
}

function capturedOutcome(captured: Captured): Outcome {
  return {
    document: { ...captured },
    render: ({ prose }) => prose(`${summaryOf(captured, []).replace(/^pond: /, "")}\n`),
  }
}
