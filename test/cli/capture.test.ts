/** `pond capture -- COMMAND`: the command is as it would be without pond, and its sessions are kept. */
import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { POND } from "../support/bundled-pond.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const KEY = `sk-ant-api03-${"a1B2c3D4".repeat(10)}`
const ACTION = join(import.meta.dir, "../../.github/actions/capture")

/** A client that leaves a session, as Claude Code does, and says what it is told to. */
function fakeClient({ path }: TemporaryHome, then: string): string {
  const script = join(path, "client.sh")
  const line = {
    ...{ sessionId: "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13", cwd: path, version: "2.1.0", isSidechain: false },
    ...{ uuid: "a0000000-0000-4000-8000-000000000001", parentUuid: null, type: "user", userType: "external" },
    ...{ timestamp: "NOW", message: { role: "user", content: `the key is ${KEY}` } },
  }
  const text = `#!/bin/bash
mkdir -p "$HOME/.claude/projects/-ci"
now=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
printf '%s\\n' '${JSON.stringify(line)}' | sed "s/NOW/$now/" > "$HOME/.claude/projects/-ci/5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13.jsonl"
${then}
`
  writeFileSync(script, text, { mode: 0o755 })
  return script
}

test("output, input and exit code are the command's; the session is stored, and its page has no credential", async () => {
  using home = temporaryHome()
  const client = fakeClient(home, 'cat; echo out; echo err >&2; printf "%s|" "$@"; exit 7')
  const [pages, report, summary] = ["pages", "report.json", "summary.md"].map((name) => join(home.path, name))
  const child = Bun.spawn(
    [
      process.execPath,
      POND,
      "capture",
      "--artifacts",
      pages ?? "",
      "--report",
      report ?? "",
      "--",
      client,
      "--json",
      "-q",
    ],
    {
      env: { PATH: process.env["PATH"] ?? "", ...home.env, GITHUB_STEP_SUMMARY: summary ?? "" },
      stdin: new Blob(["in\n"]),
      stdout: "pipe",
      stderr: "pipe",
    },
  )
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(await child.exited).toBe(7)
  expect(stdout).toBe("in\nout\n--json|-q|")
  expect(stderr).toMatch(
    /^err\npond: 1 new message stored, 1 session of this command\. 1 page written, 3 credentials taken out\.\n$/,
  )
  const [page = ""] = readdirSync(pages ?? "")
  expect(page).toBe("claude-code-5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13.md")
  const text = readFileSync(join(pages ?? "", page), "utf8")
  expect(text).not.toContain(KEY)
  expect(text).toContain("[redacted")
  expect(JSON.parse(readFileSync(report ?? "", "utf8"))).toMatchObject({
    exit_code: 7,
    messages: 1,
    sessions: [{ session_id: "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13", source_agent: "claude-code" }],
  })
  expect(readFileSync(summary ?? "", "utf8")).toContain("| claude-code | 5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13 | 1 |")
}, 60_000)

test("signals reach the command, and what it left is still stored", async () => {
  using home = temporaryHome()
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    const client = fakeClient(home, "echo ready; exec sleep 60")
    const child = Bun.spawn([process.execPath, POND, "capture", "--", client], {
      env: { PATH: process.env["PATH"] ?? "", ...home.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    })
    for await (const _ of child.stdout) {
      child.kill(signal)
      break
    }
    expect([signal, await child.exited]).toEqual([signal, code])
  }
  const { stdout } = await runPond(["list", "--json"], { env: home.env })
  expect(JSON.parse(stdout).sessions).toHaveLength(1)
}, 60_000)

test("a command that is not there, and a store that cannot be, fail nothing but what they must", async () => {
  using home = temporaryHome()
  const absent = await runPond(["capture", "--", "no-such-client"], { env: home.env })
  expect(absent).toMatchObject({ exitCode: 127, stdout: "" })
  expect(absent.stderr).toContain("no-such-client is not on the PATH")
  const client = fakeClient(home, "exit 3")
  const unstored = await runPond(["capture", "--store", "/dev/null/x", "--", client], { env: home.env })
  expect(unstored.exitCode).toBe(3)
  expect(unstored.stderr).toContain("The sessions of this command were not stored: The store /dev/null/x")
  const nothing = await runPond(["capture", "--", "true", "--no-session-persistence"], {
    env: { ...home.env, HOME: `${home.path}/x` },
  })
  expect(nothing).toMatchObject({ exitCode: 0 })
  expect(nothing.stderr).toContain("The client was told to keep no session")
}, 60_000)

/** In a process of its own, whose output is a pipe. `shell` is what bash does with the command, which is `"$@"` there. */
function captureIn(home: TemporaryHome, words: readonly string[], env = {}, shell = '"$@"') {
  const command = ["bash", "-c", shell, "bash", process.execPath, POND, "capture", ...words]
  const ended = Bun.spawnSync(command, {
    env: { PATH: process.env["PATH"] ?? "", ...home.env, ...env },
    stderr: "pipe",
  })
  return { exitCode: ended.exitCode, stdout: ended.stdout.toString(), stderr: ended.stderr.toString() }
}

function printingClient(home: TemporaryHome, text: string, then: string): string[] {
  const [printed, script] = [join(home.path, "printed"), join(home.path, "claude")]
  writeFileSync(printed, text)
  writeFileSync(script, `#!/bin/sh\ncat '${printed}'; ${then}\n`, { mode: 0o755 })
  return ["--", script, "--no-session-persistence", "--output-format", "stream-json"]
}

test("what cannot be kept of the output changes neither the output nor the exit code", () => {
  using home = temporaryHome()
  const lines = '{"type":"system","subtype":"init","session_id":"s"}\n'.repeat(4_000)
  const streaming = printingClient(home, lines, "exit 3")
  const cases = [
    ["What this command prints is not kept: ENO", captureIn(home, streaming, { TMPDIR: `${home.path}/none` })],
    ["The report of what was stored was not written: EIS", captureIn(home, ["--report", home.path, ...streaming])],
    // A limit on the size of files stands for a full disk.
    [
      "Not all that this command prints is kept: EFBIG",
      captureIn(home, streaming, {}, 'trap "" XFSZ; ulimit -f 8; "$@" | cat; exit "$PIPESTATUS"'),
    ],
  ] as const
  for (const [warning, { exitCode, stdout, stderr }] of cases)
    expect([warning, exitCode, stdout === lines, stderr]).toEqual([warning, 3, true, expect.stringContaining(warning)])
}, 60_000)

test("a reader that goes away ends the command as it would without pond, and what was printed is stored", () => {
  using home = temporaryHome()
  const streaming = printingClient(home, streamOf(home.path), `while echo '{"type":"system"}'; do :; done; exit 9`)
  const { exitCode, stderr } = captureIn(home, streaming, {}, '"$@" | head -n 1; exit "$PIPESTATUS"')
  // Whether the write failed or a signal came is the system's affair.
  expect([9, 141]).toContain(exitCode)
  expect(stderr).toContain("3 new messages stored, 1 session of this command.")
}, 60_000)

test("a file that the system cannot run ends with 126", () => {
  using home = temporaryHome()
  const script = join(home.path, "client")
  writeFileSync(script, "exit 4\n", { mode: 0o755 })
  const { exitCode, stderr } = captureIn(home, ["--", script])
  expect(exitCode).toBe(126)
  expect(stderr).toContain("client cannot be run: ENOEXEC")
}, 60_000)

const STREAMED = "9d0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a13"

/** As Claude Code prints it: a session, a prompt that it repeats, an answer with a call, its result, an agent's word. */
function streamOf(cwd: string): string {
  const uuid = (at: number) => `b0000000-0000-4000-8000-${String(at).padStart(12, "0")}`
  const shared = (at: number) => ({ session_id: STREAMED, uuid: uuid(at), timestamp: new Date().toISOString() })
  const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } }
  const lines = [
    { type: "system", subtype: "init", session_id: STREAMED, cwd, claude_code_version: "2.1.326", model: "m" },
    { type: "user", message: { role: "user", content: "List it." }, parent_tool_use_id: null, ...shared(1) },
    { type: "system", subtype: "thinking_tokens", session_id: STREAMED },
    {
      ...{ type: "assistant", parent_tool_use_id: null, ...shared(2) },
      message: { id: "msg_1", role: "assistant", model: "m", content: [{ type: "text", text: "Listing." }, call] },
    },
    {
      ...{ type: "user", parent_tool_use_id: null, tool_use_result: { stdout: "a.txt" }, ...shared(3) },
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.txt" }] },
    },
    { type: "result", subtype: "success", session_id: STREAMED, result: "done" },
  ]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("")
}

test("a client that keeps no session is stored from what it prints, which passes through as it is", async () => {
  using home = temporaryHome()
  const [printed, script] = [join(home.path, "printed"), join(home.path, "claude")]
  writeFileSync(printed, streamOf(home.path))
  writeFileSync(script, `#!/bin/sh\ncat '${printed}'; exit 3\n`, { mode: 0o755 })
  const words = ["-p", "x", "--no-session-persistence", "--output-format", "stream-json"]
  const child = Bun.spawn([process.execPath, POND, "capture", "--", script, ...words], {
    env: { PATH: process.env["PATH"] ?? "", ...home.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ exitCode: await child.exited, stdout }).toEqual({ exitCode: 3, stdout: readFileSync(printed, "utf8") })
  expect(stderr).toContain("3 new messages stored, 1 session of this command.")
  const { stdout: got } = await runPond(["get", STREAMED, "--mode", "verbatim", "--json"], { env: home.env })
  for (const text of ["List it.", "Listing.", "a.txt"]) expect(got).toContain(text)
  expect(readdirSync(home.path).filter((name) => name.startsWith("pond-capture"))).toEqual([])
}, 60_000)

test("the file that an action names is stored once, and not where the client's log of that session is stored", async () => {
  using home = temporaryHome()
  const file = join(home.path, "execution.json")
  const messages = streamOf(home.path)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  writeFileSync(file, JSON.stringify(messages, null, 2))
  const first = await runPond(["capture", "--printed", file, "--since", "1h", "--json"], { env: home.env })
  expect(JSON.parse(first.stdout)).toMatchObject({ messages: 3, sessions: [{ session_id: STREAMED }] })
  const second = await runPond(["capture", "--printed", file, "--json"], { env: home.env })
  expect(JSON.parse(second.stdout)).toMatchObject({ messages: 0 })
  const absent = await runPond(["capture", "--printed", join(home.path, "nowhere")], { env: home.env })
  expect(absent.exitCode).toBe(3)
  writeFileSync(file, "what no client printed")
  expect((await runPond(["capture", "--printed", file], { env: home.env })).exitCode).toBe(0)
}, 60_000)

interface Step {
  readonly name: string
  readonly run?: string
  readonly uses?: string
  readonly env?: Readonly<Record<string, string>>
}

const action = Bun.YAML.parse(readFileSync(join(ACTION, "action.yml"), "utf8")) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

/** The steps of the action that run something, as a runner would. */
async function runAction(home: TemporaryHome, inputs: Readonly<Record<string, string>>, path: string) {
  const files = { GITHUB_PATH: join(home.path, "path"), GITHUB_OUTPUT: join(home.path, "output") }
  let exitCode = 0
  let said = ""
  for (const { run, env = {} } of action.runs.steps) {
    if (run === undefined || exitCode !== 0) continue
    const filled = (expression: string) =>
      expression.replace(/\$\{\{\s*([^}]*?)\s*\}\}/g, (_, inner: string) => {
        const name = /^inputs\.(\w+)/.exec(inner)?.[1]
        return name === undefined ? "" : (inputs[name] ?? action.inputs[name]?.default ?? "")
      })
    const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]))
    const script = join(home.path, "step.sh")
    writeFileSync(script, run)
    const child = Bun.spawn(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], {
      env: { PATH: path, ...home.env, RUNNER_TEMP: home.path, ...files, ...given },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    said += (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
    exitCode = await child.exited
  }
  return { exitCode, said }
}

test("the steps of the action run the agent, keep its session and end as it ended", async () => {
  using home = temporaryHome()
  const bin = join(home.path, "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "pond"), `#!/bin/sh\nexec '${process.execPath}' '${POND}' "$@"\n`, { mode: 0o755 })
  const path = `${bin}:${process.env["PATH"]}`
  const client = fakeClient(home, "exit 5")
  expect(await runAction(home, { command: client }, path)).toMatchObject({ exitCode: 5 })
  expect(readdirSync(join(home.path, "pond-sessions"))).toHaveLength(1)
  expect(await runAction(home, { artifact: "" }, path)).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(readFileSync(join(home.path, "pond-report.json"), "utf8")).sessions).toHaveLength(1)
  // After an agent, with a store that cannot be: a warning.
  const warned = await runAction(home, { store: "/dev/null/x" }, path)
  expect(warned).toMatchObject({ exitCode: 0 })
  expect(warned.said).toContain("::warning::pond could not keep")
}, 60_000)

test("without pond the action warns, and runs the agent all the same", async () => {
  using home = temporaryHome()
  const client = fakeClient(home, "echo ran; exit 4")
  const ran = await runAction(home, { command: client }, "/usr/bin:/bin")
  expect(ran.exitCode).toBe(4)
  expect(ran.said).toContain("::warning::pond could not be installed")
  expect(ran.said).toContain("ran\n")
}, 60_000)

test("what the action uses of others is pinned to a commit, and the template for GitLab is YAML", () => {
  for (const { uses } of action.runs.steps) expect(uses ?? "x@".padEnd(42, "0")).toMatch(/@[0-9a-f]{40}$/)
  expect(Object.keys(Bun.YAML.parse(readFileSync(join(ACTION, "gitlab-ci.yml"), "utf8")) as object)).toEqual([
    ".pond-sessions",
  ])
  expect(existsSync(join(ACTION, "action.yml"))).toBe(true)
})
