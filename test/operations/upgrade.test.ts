/** `pond upgrade`: what the latest release is called, and which commands install it where. */
import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkUpgrade, commandsFor, INSTALLERS, installedBy } from "../../src/operations/machine/upgrade.ts"
import { VERSION } from "../../src/platform/host/version.ts"

const signal = new AbortController().signal
const DOWNLOADS = "https://example.org/releases/download/v9.0.0"

async function withRelease<T>(document: string, ask: (from: string) => Promise<T>): Promise<T> {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      asked.push(new URL(url).pathname)
      return new Response(document)
    },
  })
  try {
    const answer = await ask(`${server.url.href}latest/`)
    expect(asked).toEqual(["/latest/release.json"])
    return answer
  } finally {
    await server.stop(true)
  }
}

test("a newer release is named with its page, an older one and this one are not newer", async () => {
  const document = (version: string) => JSON.stringify({ name: "pond", version, page: "https://example.org/pond" })
  const newer = await withRelease(document("99.0.0"), (from) => checkUpgrade(from, signal))
  expect(newer).toMatchObject({ version: VERSION, latest: "99.0.0", newer: true, installed_by: "source" })
  expect(newer.page).toBe("https://example.org/pond")
  for (const version of [VERSION, "0.0.1", `${VERSION}-rc.1`])
    expect((await withRelease(document(version), (from) => checkUpgrade(from, signal))).newer).toBe(false)
})

test("what is no description of a release is refused, and nothing of it gets into a command", async () => {
  for (const document of ["", "[]", '{"name":"other","version":"9.0.0"}', '{"name":"pond","version":"9; rm -rf ~"}'])
    await expect(withRelease(document, (from) => checkUpgrade(from, signal))).rejects.toThrow("does not describe")
  const hostile = JSON.stringify({ name: "pond", version: "9.0.0", page: "https://x/$(id)", downloads: "https://x/'" })
  expect(await withRelease(hostile, (from) => checkUpgrade(from, signal))).toMatchObject({ page: null })
  await expect(checkUpgrade(undefined, signal)).rejects.toThrow("built from source")
  await expect(checkUpgrade("/nowhere/at/all", signal)).rejects.toThrow("neither a directory nor a URL")
})

test("a server that never ends is read no further than a release document is long", async () => {
  let sent = 0
  const endless = new ReadableStream({
    pull: (controller) => {
      sent += 64 * 1024
      controller.enqueue(new Uint8Array(64 * 1024).fill(32))
    },
  })
  const server = Bun.serve({ port: 0, fetch: () => new Response(endless) })
  try {
    await expect(checkUpgrade(server.url.href, signal)).rejects.toThrow("does not describe a release")
  } finally {
    await server.stop(true)
  }
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test("where the executable lies says what installed it", () => {
  const home = mkdtempSync(join(tmpdir(), "pond-upgrade-"))
  try {
    const by = (path: string) => installedBy(path, true).by
    expect(by(join(home, "bin/pond"))).toBe("unknown")
    mkdirSync(join(home, "share/doc/pond"), { recursive: true })
    writeFileSync(join(home, "share/doc/pond/installed-files"), "bin/pond\n")
    expect(by(join(home, "bin/pond"))).toBe("script")
    expect(by("/nix/store/abc-pond-0.1.0/bin/pond")).toBe("nix")
    expect(by("/opt/homebrew/Cellar/pond/0.1.0/bin/pond")).toBe("homebrew")
    expect(by("/usr/lib/node_modules/pond/node_modules/pond-linux-x64/bin/pond")).toBe("npm")
    expect(["deb", "rpm"]).toContain(by("/usr/bin/pond"))
    expect(installedBy(process.execPath).by).toBe("source")
  } finally {
    rmSync(home, { recursive: true })
  }
})

test("every installer has its commands, by the version and the place of the files", () => {
  const latest = { version: "9.0.0", page: undefined, downloads: DOWNLOADS }
  const commands = Object.fromEntries(INSTALLERS.map((by) => [by, commandsFor(by, "/opt/my pond", latest)]))
  expect(commands["script"]).toEqual([`curl -fLO ${DOWNLOADS}/install.sh`, "sh install.sh --prefix '/opt/my pond'"])
  expect(commands["unknown"]).toEqual([`curl -fLO ${DOWNLOADS}/install.sh`, "sh install.sh"])
  expect(commands["deb"]?.[1]).toMatch(/^sudo apt install \.\/pond_9\.0\.0_(amd64|arm64)\.deb$/)
  expect(commands["rpm"]?.[1]).toMatch(/^sudo dnf install \.\/pond-9\.0\.0-1\.(x86_64|aarch64)\.rpm$/)
  expect(commands["npm"]).toEqual(["npm install -g pond@9.0.0"])
  for (const [by, lines] of Object.entries(commands)) expect([by, lines.length > 0]).toEqual([by, true])
  expect(commandsFor("script", "/opt", { ...latest, downloads: undefined })).toEqual([])
})
