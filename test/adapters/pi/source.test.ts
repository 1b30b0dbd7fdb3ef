import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pi } from "../../../src/adapters/pi/adapter.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-pi-source-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const ROOTS: readonly (readonly [what: string, environment: Record<string, string>, roots: readonly string[]])[] = [
  ["nothing", {}, ["/home/user/.pi/agent/sessions"]],
  ["a directory for the agent", { PI_CODING_AGENT_DIR: "/opt/pi" }, ["/opt/pi/sessions"]],
  ["a directory below home", { PI_CODING_AGENT_DIR: "~/pi" }, ["/home/user/pi/sessions"]],
  [
    "a directory for sessions",
    { PI_CODING_AGENT_SESSION_DIR: "/data/pi" },
    ["/data/pi", "/home/user/.pi/agent/sessions"],
  ],
  ["empty words", { PI_CODING_AGENT_DIR: "" }, ["/home/user/.pi/agent/sessions"]],
]

for (const [what, environment, roots] of ROOTS) {
  test(`where the environment says ${what}, sessions are looked for where pi keeps them`, () => {
    expect(pi.source.roots(environment, "/home/user")).toEqual(roots)
  })
}

async function placesIn(root: string): Promise<string[]> {
  const places: string[] = []
  for await (const found of pi.source.plan(root))
    places.push("files" in found ? found.key : `${found.kind} ${found.file}`)
  return places
}

test("logs are planned wherever they lie, in one order, and nothing else is", async () => {
  const root = join(scratch, "tree")
  const files = [
    "--b--/2.jsonl",
    "--b--/1.jsonl",
    "flat.jsonl",
    "--a--/sub/agent.jsonl",
    "auth.json",
    "--a--/.hidden.jsonl",
  ]
  for (const file of [...files, "--a--/notes.md", "settings.json"]) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), "{}\n")
  }
  expect(await placesIn(root)).toEqual(["--a--/sub/agent.jsonl", "--b--/1.jsonl", "--b--/2.jsonl", "flat.jsonl"])
})

test("a unit says how large its file is, and when it changed", async () => {
  const root = join(scratch, "stat")
  mkdirSync(root)
  writeFileSync(join(root, "a.jsonl"), "{}\n")
  for await (const unit of pi.source.plan(root))
    expect(unit).toMatchObject({ root, files: [{ path: join(root, "a.jsonl"), form: "log", sizeBytes: 3 }] })
})

test("a link that leads back is not followed forever", async () => {
  const root = join(scratch, "loop")
  mkdirSync(join(root, "--a--"), { recursive: true })
  writeFileSync(join(root, "--a--/1.jsonl"), "{}\n")
  symlinkSync(root, join(root, "--a--/back"))
  symlinkSync(join(root, "--a--"), join(root, "--link--"))
  expect(await placesIn(root)).toEqual(["--a--/1.jsonl"])
})

test("a root that is not there holds nothing", async () => {
  expect(await placesIn(join(scratch, "nowhere"))).toEqual([])
})
