/**
 * `bun run judge:mcp`: the tools and resources of pond, as the official inspector of the protocol sees them, over stdio and
 * over HTTP, beside a small store. The inspector comes from the registry at a fixed version, on its own, for this run alone.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTalk } from "./corpus/talk.ts"
import { fillWithTalk, openTalkStore, storeFolder } from "./corpus/talk-store.ts"
import { ROOT } from "./release/packages.ts"

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
const MAIN = join(ROOT, "src/main.ts")

interface Check {
  readonly what: string
  readonly args: readonly string[]
  readonly says: RegExp
}

const CHECKS: readonly Check[] = [
  {
    what: "tools are listed",
    args: ["--method", "tools/list"],
    says: /pond_search[\s\S]*pond_get[\s\S]*pond_sql_query/,
  },
  {
    what: "resources are listed",
    args: ["--method", "resources/list"],
    says: /schema:\/\/pond-sql[\s\S]*stats:\/\/pond/,
  },
  {
    what: "a resource is read",
    args: ["--method", "resources/read", "--uri", "stats://pond"],
    says: /\\"messages\\":\s*200/,
  },
  {
    what: "a search answers",
    args: call("pond_search", "query=ba co di"),
    says: /pond_search: \d+ matching messages/,
  },
  {
    what: "a session is read",
    args: call("pond_get", "session_id=session-000001", "limit=2"),
    says: /pond_get: session session-000001 \(conversational\), 2 messages/,
  },
  {
    what: "a query answers",
    args: call("pond_sql_query", "sql=select count(*) n from messages"),
    says: /1 rows in \d+ ms[\s\S]*200/,
  },
  {
    what: "a wrong query teaches",
    args: call("pond_sql_query", "sql=select rol from messages"),
    says: /Did you mean role\?/,
  },
]

function call(tool: string, ...args: readonly string[]): string[] {
  return ["--method", "tools/call", "--tool-name", tool, ...args.flatMap((arg) => ["--tool-arg", arg])]
}

async function inspected(target: readonly string[], check: Check, env: Record<string, string>): Promise<boolean> {
  // A busy machine is slow to start two programs; how long that takes is not what is judged.
  const command = ["npx", "-y", INSPECTOR, "--cli", ...target, "--connect-timeout", "120000", ...check.args]
  const child = Bun.spawn(command, { env, cwd: env["HOME"] ?? ROOT, stdout: "pipe", stderr: "pipe" })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  const isRight = check.says.test(out) || check.says.test(err)
  console.log(`${isRight ? "ok  " : "MISS"} ${check.what}`)
  if (!isRight) console.error(out.slice(0, 2000), err.slice(0, 2000))
  return isRight
}

async function judged(folder: string): Promise<boolean> {
  const sessions = openTalkStore(folder)
  await fillWithTalk(sessions, createTalk(7), 200)
  sessions.close()
  const env = { ...process.env, HOME: folder, POND_STORE: storeFolder(folder) } as Record<string, string>
  const results: boolean[] = []
  // The inspector hands on no variable that it was not told of.
  const stdio = ["-e", `POND_STORE=${storeFolder(folder)}`, process.execPath, MAIN, "mcp"]
  console.log("over stdio")
  for (const check of CHECKS) results.push(await inspected(stdio, check, env))
  const server = Bun.spawn([process.execPath, MAIN, "serve", "--port", "0", "--no-token"], {
    env,
    stdout: "pipe",
    stderr: "inherit",
  })
  const { value } = await server.stdout.getReader().read()
  const url = /http:\/\/\S+/.exec(new TextDecoder().decode(value))?.[0] ?? ""
  console.log("over HTTP")
  for (const check of CHECKS) results.push(await inspected([`${url}/mcp`, "--transport", "http"], check, env))
  server.kill()
  await server.exited
  return results.length === 2 * CHECKS.length && results.every(Boolean)
}

const place = mkdtempSync(join(tmpdir(), "pond-judge-"))
try {
  process.exitCode = (await judged(place)) ? 0 : 1
} finally {
  rmSync(place, { recursive: true, force: true })
}
