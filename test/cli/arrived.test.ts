/** A session that somebody else may have made is resumed when its owner has seen what that does, and said so. */
import { expect, test } from "bun:test"
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURE = join(import.meta.dir, "../../fixtures/claude-code/tools/root")
const SESSION = "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8"

function machine() {
  const home = temporaryHome()
  const bin = join(home.path, "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n[ "$1" = --version ] || echo "$@" > "$HOME/started"\n`)
  chmodSync(join(bin, "claude"), 0o755)
  const env = { ...home.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
  return {
    home,
    pond: (...words: readonly string[]) => runPond(words, { env }),
    started: () => existsSync(join(home.path, "started")) && readFileSync(join(home.path, "started"), "utf8"),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  }
}

test.each(["archive", "copy"])("what came by %s shows directory, files and command, and asks", async (way) => {
  using theirs = machine()
  using ours = machine()
  cpSync(FIXTURE, join(theirs.home.path, ".claude"), { recursive: true })
  expect(await theirs.pond("sync", "claude-code", "--only", "import")).toMatchObject({ exitCode: 0 })
  if (way === "archive") {
    const file = join(theirs.home.path, "shared.pond")
    expect(await theirs.pond("export", "-o", file)).toMatchObject({ exitCode: 0 })
    expect(await ours.pond("import", file)).toMatchObject({ exitCode: 0 })
  } else {
    const store = join(ours.home.path, ".local/share/pond/store")
    expect(await theirs.pond("copy", "--to", store)).toMatchObject({ exitCode: 0 })
  }
  const resume = ["resume", SESSION, "--cwd", ours.home.path]
  const asked = await ours.pond(...resume)
  expect(asked).toMatchObject({ exitCode: 2, stdout: "" })
  expect(asked.stderr).toContain(way === "archive" ? "came from an export file" : "came from a copied store")
  const grant = "grant permissionMode bypassPermissions"
  for (const shown of [ours.home.path, `claude --resume ${SESSION}`, `${SESSION}.jsonl`, "--yes", grant])
    expect(asked.stderr).toContain(shown)
  const elsewhere = join(ours.home.path, "elsewhere")
  const restored = await ours.pond("restore", SESSION, "--root", elsewhere, "--cwd", ours.home.path)
  expect(restored).toMatchObject({ exitCode: 0 })
  expect(restored.stderr).toContain(grant)
  const anew = await ours.pond("restore", SESSION, "--root", elsewhere, "--cwd", ours.home.path, "--anew")
  expect(anew).toMatchObject({ exitCode: 0 })
  expect(anew.stderr).not.toContain("grant")
  expect({ started: ours.started(), isThere: existsSync(join(ours.home.path, ".claude")) }).toEqual({
    started: false,
    isThere: false,
  })
  expect(await ours.pond(...resume, "--yes")).toMatchObject({ exitCode: 0 })
  expect(ours.started()).toBe(`--resume ${SESSION}\n`)
})

test("what this machine's own client wrote is resumed without a question, also where an export file has it too", async () => {
  using own = machine()
  cpSync(FIXTURE, join(own.home.path, ".claude"), { recursive: true })
  expect(await own.pond("sync", "claude-code", "--only", "import")).toMatchObject({ exitCode: 0 })
  const file = join(own.home.path, "backup.pond")
  expect(await own.pond("export", "-o", file)).toMatchObject({ exitCode: 0 })
  expect(await own.pond("import", file)).toMatchObject({ exitCode: 0 })
  expect(await own.pond("resume", SESSION, "--cwd", own.home.path)).toMatchObject({ exitCode: 0 })
  expect(own.started()).toBe(`--resume ${SESSION}\n`)
})
