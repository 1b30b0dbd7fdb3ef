/** `install.sh` is run by the shell of this machine, against a server with a small release whose pond is a script. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { type Entry, inFolder, tar, textEntry } from "../../build/release/archive.ts"
import { describeRelease } from "../../build/release/description.ts"
import { archiveName, installScript } from "../../build/release/install-script.ts"
import { TARGET_NAMES } from "../../build/release/targets.ts"

const SHARED = ["share/man/man1/pond.1", "share/bash-completion/completions/pond", "share/doc/pond/licenses/bun@1.md"]
/** What the script may call. `curl`, `wget` and others are added where a test wants them. */
const TOOLS =
  "sh awk basename cat cp cut df dirname find getconf grep gzip head ldd mkdir mktemp mv rm rmdir sed sort tar"

const files = new Map<string, Buffer>()
const asked: string[] = []
const server = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    const name = new URL(url).pathname.slice(1)
    asked.push(name)
    const content = files.get(name)
    return content === undefined ? new Response("", { status: 404 }) : new Response(new Uint8Array(content))
  },
})
afterAll(() => server.stop(true))

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "pond-install-"))
  mkdirSync(join(home, "tools"))
  for (const tool of [...TOOLS.split(" "), "sha256sum", "curl"]) addTool(tool)
  addProgram("uname", `[ "$1" = -s ] && echo Linux || echo x86_64`)
  writeFileSync(join(home, "cpuinfo"), "flags : sse avx avx2\n")
  asked.length = 0
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function addTool(name: string): void {
  const path = Bun.which(name)
  if (path !== null) addProgram(name, `exec ${path} "$@"`)
}

function addProgram(name: string, body: string): void {
  writeFileSync(join(home, "tools", name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(home, "tools", name), 0o755)
}

/** What systems with musl must have besides. */
function addLibrary(): void {
  mkdirSync(join(home, "lib"))
  writeFileSync(join(home, "lib/libstdc++.so.6"), "")
}

/** The script of a release of that version, whose archives of every target the server has. */
function releaseOf(version: string, pond = `echo "pond ${version}"`, more: readonly string[] = []): string {
  const origin = { repository: undefined, downloads: server.url.href, maintainer: undefined }
  const release = { ...describeRelease(origin), version }
  const archives = TARGET_NAMES.map((target) => {
    const entries: Entry[] = [
      {
        ...textEntry("pond", `#!/bin/sh\nif [ "$1" = uninstall ]; then echo "$@" > "$HOME/said"; exit; fi\n${pond}\n`),
        isExecutable: true,
      },
      ...[...SHARED, ...more].map((path) => textEntry(path, `${path} of ${version}\n`)),
    ]
    const unpacked = tar(inFolder(`pond-${version}-${target}`, entries))
    const content = gzipSync(unpacked)
    files.set(archiveName(release, target, "tar.gz"), content)
    const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex")
    return { target, ending: "tar.gz", sha256, bytes: content.length, unpackedBytes: unpacked.length } as const
  })
  const script = join(home, `install-${version}.sh`)
  writeFileSync(script, installScript(release, archives))
  return script
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(script: string, ...args: readonly string[]): Promise<Ran> {
  const child = Bun.spawn(["/bin/sh", script, ...args], {
    cwd: home,
    env: {
      ...{ HOME: home, PATH: join(home, "tools") },
      ...{ POND_INSTALL_CPUINFO: join(home, "cpuinfo"), POND_INSTALL_LIBRARIES: `/nowhere ${home}/lib` },
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

/** All files below the prefix, sorted. */
function installed(prefix = ".local"): string[] {
  const top = join(home, prefix)
  if (!existsSync(top)) return []
  const found = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  return sorted(found.map(({ parentPath, name }) => join(parentPath, name).slice(top.length + 1)))
}

const ALL = sorted(["bin/pond", ...SHARED, "share/doc/pond/installed-files"])

test("installs to ~/.local, upgrades in place, and removes all of it again", async () => {
  const first = await run(releaseOf("1.0.0"))
  expect(first).toMatchObject({ code: 0, err: "" })
  expect(first.out).toContain(`Installed pond 1.0.0 as ${home}/.local/bin/pond.`)
  expect(first.out).toContain("is not in your PATH")
  expect(installed()).toEqual(ALL)

  const second = await run(releaseOf("1.1.0"))
  expect(second.out).toContain("Upgraded pond 1.0.0 to 1.1.0")
  expect(installed()).toEqual(ALL)
  expect(readFileSync(join(home, ".local", SHARED[0] ?? ""), "utf8")).toContain("of 1.1.0")

  expect(await run(releaseOf("1.1.0"), "--uninstall")).toMatchObject({ code: 0, err: "" })
  expect(installed()).toEqual([])
  expect(readFileSync(join(home, "said"), "utf8")).toBe("uninstall --yes\n")
  expect(await run(releaseOf("1.1.0"), "--uninstall")).toMatchObject({ code: 1 })
})

test("an upgrade takes away what only the version before had, and what a killed installation left", async () => {
  const outdated = "share/doc/pond/licenses/gone@1.LICENSE.txt"
  expect(await run(releaseOf("1.0.0", undefined, [outdated]))).toMatchObject({ code: 0 })
  expect(installed()).toContain(outdated)
  const ended = Bun.spawnSync(["true"]).pid
  mkdirSync(join(home, `.local/bin/.pond-install.${ended}`))
  mkdirSync(join(home, `.local/bin/.pond-install.${process.pid}`))
  expect(await run(releaseOf("2.0.0"))).toMatchObject({ code: 0, err: "" })
  expect(installed()).toEqual(ALL)
  const left = readdirSync(join(home, ".local/bin")).filter((name) => name.startsWith(".pond"))
  expect(left).toEqual([`.pond-install.${process.pid}`])
})

test("a mirror that sends without end fills no disk, and a directory of that name is not filled", async () => {
  const script = releaseOf("1.0.0")
  const endless = Bun.serve({ port: 0, fetch: () => new Response(new Blob([new Uint8Array(64 * 1024 * 1024)])) })
  try {
    for (const tool of ["curl", "wget"]) {
      if (tool === "wget") rmSync(join(home, "tools/curl"))
      if (tool === "wget") addTool("wget")
      const { code, err } = await run(script, "--from", endless.url.href)
      expect([tool, code, err]).toEqual([tool, 1, expect.stringContaining("Cannot download")])
    }
  } finally {
    await endless.stop(true)
  }
  expect(installed()).toEqual([])
  mkdirSync(join(home, ".local/bin/pond"), { recursive: true })
  expect(await run(script)).toMatchObject({
    code: 1,
    err: expect.stringContaining("/.local/bin/pond is a directory. Move it away"),
  })
})

test("--prefix takes any directory, also one with blanks, and wget serves where curl is missing", async () => {
  rmSync(join(home, "tools/curl"))
  addTool("wget")
  expect(await run(releaseOf("1.0.0"), "--prefix", "my programs")).toMatchObject({ code: 0, err: "" })
  expect(installed("my programs")).toEqual(ALL)
})

test("without curl and wget it says so, and leaves nothing", async () => {
  rmSync(join(home, "tools/curl"))
  const { code, err } = await run(releaseOf("1.0.0"))
  expect({ code, err }).toEqual({
    code: 1,
    err: "install: Neither curl nor wget is installed: one of them is needed.\n",
  })
  expect(installed()).toEqual([])
})

test("--from takes a mirror or a directory, and what is not what was released is refused", async () => {
  const script = releaseOf("1.0.0")
  const [name = "", content = Buffer.alloc(0)] =
    [...files].find(([each]) => each === "pond-1.0.0-linux-x64.tar.gz") ?? []
  const mirror = join(home, "mirror")
  mkdirSync(mirror)
  writeFileSync(join(mirror, name), content)
  expect(await run(script, "--from", mirror)).toMatchObject({ code: 0 })
  expect(asked).toEqual([])
  rmSync(join(home, ".local"), { recursive: true })

  writeFileSync(join(mirror, name), gzipSync(Buffer.from("something else")))
  const changed = await run(script, `--from=${mirror}`)
  expect(changed.code).toBe(1)
  expect(changed.err).toContain("is not what was released")
  expect(installed()).toEqual([])
  expect(await run(script, "--from", `${server.url.href}nowhere`)).toMatchObject({ code: 1 })
})

test("of an executable that does not run, the first line that it says is told", async () => {
  const script = releaseOf(
    "1.0.0",
    "echo 'Error loading shared library'; echo 'Error relocating: symbol not found'; exit 127",
  )
  const { code, err } = await run(script)
  expect(code).toBe(1)
  expect(err).toBe("install: The executable does not run here: Error loading shared library. Nothing was installed.\n")
  expect(installed()).toEqual([])
})

test("an upgrade that fails leaves the pond that was there", async () => {
  await run(releaseOf("1.0.0"))
  const broken = await run(releaseOf("1.1.0", "echo no such library >&2; exit 127"))
  expect(broken.code).toBe(1)
  expect(broken.err).toContain("The executable does not run here: no such library. Nothing was installed.")
  expect(installed()).toEqual(ALL)
  expect(readFileSync(join(home, ".local/bin/pond"), "utf8")).toContain("pond 1.0.0")
})

test("the build is chosen by system, processor and C library", async () => {
  const script = releaseOf("1.0.0")
  const target = async () => {
    asked.length = 0
    const { err } = await run(script)
    return asked[0]?.replace(/^pond-1\.0\.0-(.*)\.tar\.gz$/, "$1") ?? err.trim()
  }
  addProgram("ldd", "echo 'ldd (GNU libc) 2.36'")
  addProgram("getconf", "echo glibc 2.36")
  expect(await target()).toBe("linux-x64")
  writeFileSync(join(home, "cpuinfo"), "flags : sse avx\n")
  expect(await target()).toBe("linux-x64-baseline")
  addProgram("uname", `[ "$1" = -s ] && echo Linux || echo aarch64`)
  expect(await target()).toBe("linux-arm64")
  addProgram("ldd", "echo 'musl libc (aarch64)' >&2; exit 1")
  addLibrary()
  expect(await target()).toBe("linux-arm64-musl")
  addProgram("ldd", "echo 'ldd (GNU libc) 2.17'")
  addProgram("getconf", "echo glibc 2.17")
  expect(await target()).toBe("install: This system has glibc 2.17; pond needs 2.27 or newer.")
  addProgram("uname", `[ "$1" = -s ] && echo Darwin || echo x86_64`)
  addProgram("sysctl", "echo 1")
  expect(await target()).toBe("darwin-arm64")
  addProgram("sysctl", "echo 0")
  expect(await target()).toBe("install: This release has no build for darwin-x64.")
  addProgram("uname", "echo MINGW64_NT-10.0")
  expect(await target()).toContain("Run this script inside WSL")
  addProgram("uname", `[ "$1" = -s ] && echo Linux || echo riscv64`)
  expect(await target()).toBe("install: pond is not built for the processor riscv64.")
})

test("a release without the build for newer processors installs the one for all", async () => {
  const script = releaseOf("1.0.0")
  writeFileSync(script, readFileSync(script, "utf8").replace(/linux-x64 tar.*\n/, ""))
  addProgram("ldd", "echo 'ldd (GNU libc) 2.36'")
  expect(await run(script)).toMatchObject({ code: 0 })
  expect(asked).toEqual(["pond-1.0.0-linux-x64-baseline.tar.gz"])
})

test("a musl that is too old is told before the download, and without libstdc++ there is none", async () => {
  const script = releaseOf("1.0.0")
  addProgram("ldd", `printf 'musl libc (x86_64)\\nVersion 1.2.5\\n' >&2; exit 1`)
  expect(await run(script)).toEqual({
    code: 1,
    out: "",
    err: "install: libstdc++ is missing; pond needs it. On Alpine: apk add libstdc++\n",
  })
  expect(asked).toEqual([])
  addLibrary()
  for (const [version, isOld] of [
    ["1.2.2", true],
    ["1.2.3", false],
    ["1.2.5", false],
    ["1.10.0", false],
  ] as const) {
    addProgram("ldd", `printf 'musl libc (x86_64)\\nVersion ${version}\\n' >&2; exit 1`)
    const { code, err } = await run(script)
    expect([version, code, err.includes(`This system has musl ${version}`)]).toEqual([version, 0, isOld])
  }
})

test("a full disk is told before the download", async () => {
  const script = releaseOf("1.0.0")
  addProgram("df", "printf 'Filesystem 1024-blocks Used Available Capacity Mounted\\n/dev/x 9 9 900 99%% /\\n'")
  const { code, err } = await run(script)
  expect({ code, err }).toEqual({
    code: 1,
    err: `install: ${home}/.local/bin has 0 MB of free space; 1 MB are needed.\n`,
  })
  expect(asked).toEqual([])
})

test("gh verifies the attestation where it is logged in, and what it refuses is not installed", async () => {
  const script = releaseOf("1.0.0")
  const text = readFileSync(script, "utf8").replace("REPOSITORY=''", "REPOSITORY='acme/pond'")
  writeFileSync(script, text)
  addProgram("gh", `echo "$@" >> "$HOME/gh"; [ "$1" = auth ]`)
  const refused = await run(script)
  expect(refused.code).toBe(1)
  expect(refused.err).toContain("gh cannot verify the attestation")
  expect(readFileSync(join(home, "gh"), "utf8")).toMatch(/attestation verify \S+\.tar\.gz --repo acme\/pond/)
  expect(installed()).toEqual([])
  addProgram("gh", "exit 0")
  expect((await run(script)).out).toContain("Verified: SHA-256 and the attestation of acme/pond.")
})

test("another pond that comes first in PATH is named, and a home that cannot be written to is refused", () => {
  const script = releaseOf("1.0.0", undefined, [])
  addProgram("pond", "echo other")
  const install = (...words: readonly string[]) => {
    const env = { HOME: home, PATH: `${home}/tools:${home}/.local/bin`, POND_INSTALL_CPUINFO: join(home, "cpuinfo") }
    const { exitCode, stderr } = Bun.spawnSync(["/bin/sh", script, "--from", home, ...words], { env, stderr: "pipe" })
    return { exitCode, err: stderr.toString() }
  }
  for (const [name, content] of files) writeFileSync(join(home, name), content)
  const hidden = `install: ${home}/tools/pond comes first in PATH and hides ${home}/.local/bin/pond.\n`
  expect(install()).toEqual({ exitCode: 0, err: hidden })
  expect(install("--prefix", "/dev/null/x")).toEqual({
    exitCode: 1,
    err: "install: Cannot create /dev/null/x/bin. Choose another directory with --prefix.\n",
  })
})

test("a script that was cut short on its way does nothing", async () => {
  const script = releaseOf("1.0.0")
  const text = readFileSync(script, "utf8")
  writeFileSync(script, text.slice(0, text.lastIndexOf("main")))
  expect(await run(script)).toEqual({ code: 0, out: "", err: "" })
  expect(installed()).toEqual([])
})

test("a URL that a shell would read is no address of a release", () => {
  const origin = { repository: "https://example.org/a'$(id)", downloads: undefined, maintainer: undefined }
  expect(() => describeRelease(origin)).toThrow("is not a URL")
})

function sorted(names: readonly string[]): string[] {
  return names.toSorted((left, right) => (left < right ? -1 : 1))
}
