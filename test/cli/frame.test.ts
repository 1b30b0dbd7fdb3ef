import { expect, test } from "bun:test"
import { join } from "node:path"
import { ERROR_TABLE } from "../../src/model/errors.ts"
import { runPond } from "../support/pond-process.ts"

const main = join(import.meta.dir, "rehearsal.ts")
const rehearse = (...args: string[]) => runPond(args, { main })

// --- How it ends ----------------------------------------------------------------------

/** Starts the verb, sends each signal when its line was seen on stderr, and waits for the end. */
async function interrupt(
  args: readonly string[],
  signals: readonly (readonly [after: string, signal: NodeJS.Signals])[],
) {
  const child = Bun.spawn([process.execPath, main, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const stdout = new Response(child.stdout).text()
  const pending = [...signals]
  let stderr = ""
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    stderr += chunk
    while (pending[0] !== undefined && stderr.includes(pending[0][0])) child.kill(pending.shift()?.[1])
  }
  return { exitCode: await child.exited, signalCode: child.signalCode, stderr, stdout: await stdout }
}

test("Ctrl-C asks the work to stop, runs the cleanups last first, and exits 130", async () => {
  expect(await interrupt(["wait"], [["waiting", "SIGINT"]])).toEqual({
    exitCode: 130,
    signalCode: null,
    stderr:
      "waiting\nasked to stop\nsecond cleanup\nfirst cleanup\npond: Stopped after 3 sessions; run it again to go on.\n",
    stdout: "",
  })
})

test("a second Ctrl-C waits for nothing, but the cleanups run", async () => {
  const ended = await interrupt(
    ["wait", "--stubborn"],
    [
      ["waiting", "SIGINT"],
      ["asked to stop", "SIGINT"],
    ],
  )
  expect(ended).toEqual({
    exitCode: 130,
    signalCode: null,
    stderr: "waiting\nasked to stop\nsecond cleanup\nfirst cleanup\npond: Interrupted.\n",
    stdout: "",
  })
})

test("SIGTERM exits 143, and --json still prints one document", async () => {
  const { exitCode, stdout } = await interrupt(["wait", "--json"], [["waiting", "SIGTERM"]])
  expect({ exitCode, document: JSON.parse(stdout) }).toEqual({
    exitCode: 143,
    document: {
      error: { code: "interrupted", message: "Stopped after 3 sessions; run it again to go on.", details: {} },
    },
  })
})

test("work that was whole all the same is shown, and the exit code is still that of the signal", async () => {
  const { exitCode, stdout } = await interrupt(["wait", "--serving"], [["waiting", "SIGINT"]])
  expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "served\n" })
})

test("a verb that runs until a signal comes succeeds by it", async () => {
  const { exitCode, stdout } = await interrupt(["serve"], [["waiting", "SIGTERM"]])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" })
})

test.each(["stream", "print --lines 200000"])(
  "%s into a reader that goes away: quiet, and 0 as with ripgrep",
  async (verb) => {
    const script = `"$1" "$2" ${verb} | head -n 1; echo "exit \${PIPESTATUS[0]}"`
    const child = Bun.spawn(["bash", "-c", script, "bash", process.execPath, main], { stdout: "pipe", stderr: "pipe" })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    expect(stdout.split("\n").slice(1)).toEqual(["exit 0", ""])
    expect(stderr.replace("a line for people\n", "")).toBe("")
  },
)

test("everything that was written is out before the process ends", async () => {
  const { stdout, exitCode } = await rehearse("print", "--lines", "300000")
  expect({ bytes: stdout.length, exitCode }).toEqual({ bytes: 300_000 * "line\n".length, exitCode: 0 })
})

// --- What it says ---------------------------------------------------------------------

test.each(Object.entries(ERROR_TABLE))("%s leaves with the exit code of its row", async (code, { exit }) => {
  const { stdout, stderr, exitCode } = await rehearse("fail", code)
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: "", stderr: "pond: It ␛[31mfailed␛[0m.\n", exitCode: exit })
})

test("a failure under --json is one document on stdout, and nothing else", async () => {
  const { stdout, stderr, exitCode } = await rehearse("fail", "not_found", "--json")
  expect({ document: JSON.parse(stdout), stderr, exitCode }).toEqual({
    document: { error: { code: "not_found", message: "It \u001b[31mfailed\u001b[0m.", details: { where: "here" } } },
    stderr: "",
    exitCode: 3,
  })
})

test("a failure nobody planned is internal, and shows nothing of itself", async () => {
  const { stdout, stderr, exitCode } = await rehearse("fail", "surprise")
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "",
    stderr: "pond: pond failed unexpectedly. Run it again with -v and report the output.\n",
    exitCode: 1,
  })
})

test("-v says what was behind a failure, and where", async () => {
  const { stderr } = await rehearse("fail", "surprise", "-v")
  expect(stderr).toContain("caused by: TypeError: the password is hunter2")
  expect(stderr).toMatch(/rehearsal\.ts:\d+/)
})

test("a document carries the version of the protocol, and progress goes to stderr as NDJSON", async () => {
  const { stdout, stderr, exitCode } = await rehearse("print", "--json")
  expect(JSON.parse(stdout)).toEqual({ protocol_version: 1, lines: 1 })
  const events = stderr.trimEnd().split("\n")
  expect(events.map((line) => JSON.parse(line))).toEqual([
    { event: "progress", stage: "import", unit: "sessions", done: 0, total: 2 },
    { event: "log", level: "info", message: "a line for people" },
    { event: "progress", stage: "import", unit: "sessions", done: 2, total: 2, note: "all of it" },
  ])
  expect(exitCode).toBe(0)
})

test("-q leaves only the result, -v says more, and neither changes the result", async () => {
  const [quiet, verbose, both] = await Promise.all([
    rehearse("print", "-q"),
    rehearse("-v", "print"),
    rehearse("print", "-vq"),
  ])
  expect(quiet).toEqual({ stdout: "line\n", stderr: "", exitCode: 0 })
  expect(both).toEqual(quiet)
  expect(verbose).toEqual({ stdout: "line\n", stderr: "a line for people\npond closed\n", exitCode: 0 })
})

test("work that was done but not whole exits 4", async () => {
  expect(await rehearse("print", "-q", "--lines", "0")).toEqual({ stdout: "", stderr: "", exitCode: 4 })
})

test("flags of every verb may stand before the verb or after it", async () => {
  const [before, after] = await Promise.all([rehearse("--json", "-q", "print"), rehearse("print", "-q", "--json")])
  expect(before).toEqual(after)
  expect(before.stdout).toBe('{"protocol_version":1,"lines":1}\n')
})

test("the second word of a family is looked up within the family", async () => {
  const [wrong, missing, right, help] = await Promise.all([
    rehearse("family", "frist"),
    rehearse("family"),
    rehearse("family", "second", "-q"),
    rehearse("family", "--help"),
  ])
  expect(wrong.stderr).toBe('pond: Unknown verb "family frist". Did you mean first? Run pond --help.\n')
  expect(missing.stderr).toBe("pond: pond family needs one of: first, second.\n")
  expect(right).toEqual({ stdout: "line\n", stderr: "", exitCode: 0 })
  expect(help.stdout).toContain("family second")
  expect(help.stdout).not.toContain("stream")
})
