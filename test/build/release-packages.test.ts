/** The packages of a release are read by the programs that will install them, where this machine has these. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Entry, LEVEL_DRAFT, textEntry } from "../../build/release/archive.ts"
import { bundle } from "../../build/release/bundle.ts"
import { containerfile } from "../../build/release/container.ts"
import { debianPackage } from "../../build/release/deb.ts"
import { describeRelease, PACKAGING } from "../../build/release/description.ts"
import { flake } from "../../build/release/flake.ts"
import { formula } from "../../build/release/formula.ts"
import { licensesOf } from "../../build/release/licenses.ts"
import { npmLauncher, npmPlatformPackage } from "../../build/release/npm.ts"
import { installedPackage } from "../../build/release/packages.ts"
import { rpmPackage } from "../../build/release/rpm.ts"
import { billOfMaterials } from "../../build/release/sbom.ts"
import { TARGET_NAMES, targetNamed } from "../../build/release/targets.ts"
import manifest from "../../package.json"

const release = {
  ...describeRelease({ repository: "https://example.org/acme/pond", downloads: undefined, maintainer: undefined }),
  version: "1.2.3",
}
const FILES: readonly Entry[] = [
  { ...textEntry("bin/pond", '#!/bin/sh\necho "pond 1.2.3 $*"; exit 7\n'), isExecutable: true },
  textEntry("share/man/man1/pond.1", ".TH POND 1\n"),
  textEntry("share/doc/pond/licenses/bun@1.md", "MIT\n"),
]

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "pond-packages-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Ran {
  readonly code: number
  readonly out: string
}

async function run(command: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn([...command], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out: out + err }
}

const withProgram = (name: string) => test.if(Bun.which(name) !== null)

withProgram("dpkg-deb")("dpkg reads the Debian package: its fields, its files and their modes", async () => {
  const path = join(directory, "pond.deb")
  const made = await debianPackage(release, "amd64", FILES)
  expect(Buffer.compare(made, await debianPackage(release, "amd64", FILES.toReversed()))).toBe(0)
  writeFileSync(path, made)
  const { out } = await run(["dpkg-deb", "--field", path])
  for (const field of [
    "Package: pond",
    "Version: 1.2.3",
    "Architecture: amd64",
    "Homepage: https://example.org/acme/pond",
  ])
    expect(out).toContain(field)
  expect((await run(["dpkg-deb", "--extract", path, join(directory, "deb")])).code).toBe(0)
  expect((await run([join(directory, "deb/usr/bin/pond"), "x"])).out).toBe("pond 1.2.3 x\n")
  const listed = await run(["dpkg-deb", "--contents", path])
  expect(listed.out).toMatch(/^-rwxr-xr-x 0\/0 .* \.\/usr\/bin\/pond$/m)
  expect(listed.out).toMatch(/^drwxr-xr-x 0\/0 .* \.\/usr\/share\/doc\/pond\/$/m)
})

withProgram("dpkg-deb")("dpkg unpacks a file of any size", async () => {
  const path = join(directory, "large.deb")
  const large: Entry = { path: "share/large", content: Buffer.alloc(40 * 1024 * 1024, "pond") }
  writeFileSync(path, await debianPackage(release, "amd64", [large], LEVEL_DRAFT))
  expect(await run(["dpkg-deb", "--extract", path, join(directory, "large")])).toEqual({ code: 0, out: "" })
  expect(readFileSync(join(directory, "large/usr/share/large")).equals(Buffer.from(large.content))).toBe(true)
})

withProgram("rpm")("rpm verifies the RPM package, and installs and removes its files", async () => {
  const path = join(directory, "pond.rpm")
  const made = await rpmPackage(release, "x86_64", FILES)
  expect(Buffer.compare(made, await rpmPackage(release, "x86_64", FILES.toReversed()))).toBe(0)
  writeFileSync(path, made)
  const checked = await run(["rpm", "--checksig", "--verbose", path])
  expect(checked).toMatchObject({ code: 0 })
  expect(checked.out).toContain("Payload SHA256 digest: OK")
  expect((await run(["rpm", "-qp", "--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE}", path])).out).toBe(
    "pond 1.2.3 x86_64 Apache-2.0",
  )
  expect((await run(["rpm", "-qpl", path])).out.trim().split("\n")).toContain("/usr/bin/pond")
})

withProgram("ruby")("Ruby reads the formula", async () => {
  const archives = (["darwin-arm64", "linux-arm64", "linux-x64-baseline"] as const).map(
    (target) => ({ target, ending: "tar.gz", sha256: "0".repeat(64), bytes: 1, unpackedBytes: 1 }) as const,
  )
  writeFileSync(join(directory, "pond.rb"), formula(release, archives) ?? "")
  expect(await run(["ruby", "-wc", "pond.rb"])).toEqual({ code: 0, out: "Syntax OK\n" })
})

test("the formula names each archive with its checksum, and is left out where nobody could download it", () => {
  const archive = {
    target: "darwin-arm64",
    ending: "tar.gz",
    sha256: "a".repeat(64),
    bytes: 1,
    unpackedBytes: 1,
  } as const
  const text = formula(release, [archive]) ?? ""
  expect(text).toContain('url "https://example.org/acme/pond/releases/download/v')
  expect(text).toContain(`sha256 "${archive.sha256}"`)
  expect(formula({ ...release, homepage: undefined }, [archive])).toBeUndefined()
  expect(formula(release, [])).toBeUndefined()
})

const ARCHIVE = {
  target: "linux-x64-baseline",
  ending: "tar.gz",
  sha256: "b".repeat(64),
  bytes: 1,
  unpackedBytes: 1,
} as const

withProgram("unzip")("a bundle is a zip with its manifest and an executable, the same bytes each time", async () => {
  const path = join(directory, "pond.mcpb")
  const executable = Buffer.from('#!/bin/sh\necho started "$@"\n')
  const made = bundle(release, "linux", executable, 9)
  expect(Buffer.compare(made, bundle(release, "linux", executable, 9))).toBe(0)
  writeFileSync(path, made)
  expect((await run(["unzip", "-tq", path])).code).toBe(0)
  expect((await run(["unzip", "-q", path, "-d", join(directory, "bundle")])).code).toBe(0)
  expect((await run([join(directory, "bundle/server/pond"), "mcp"])).out).toBe("started mcp\n")
  expect(JSON.parse(readFileSync(join(directory, "bundle/manifest.json"), "utf8"))).toMatchObject({ version: "1.2.3" })
})

withProgram("nix-instantiate")("Nix reads the flake", async () => {
  writeFileSync(join(directory, "flake.nix"), flake(release, [ARCHIVE]) ?? "")
  expect(await run(["nix-instantiate", "--parse", "flake.nix"])).toMatchObject({ code: 0 })
})

test("the flake names each archive that Nix has a system for, and is left out where nobody could download it", () => {
  const text = flake(release, [ARCHIVE, { ...ARCHIVE, target: "linux-x64-musl" }]) ?? ""
  expect(text.match(/sha256 = /g)).toHaveLength(1)
  expect(text).toContain(`x86_64-linux = { url = "https://example.org/acme/pond/releases/download/v`)
  expect(text).toContain("--add-needed libstdc++.so.6")
  expect(flake({ ...release, downloads: undefined }, [ARCHIVE])).toBeUndefined()
  expect(flake(release, [])).toBeUndefined()
})

test("the container image is made of the package for Debian, has no shell and runs as nobody in particular", () => {
  const text = containerfile(release)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the definition.
  expect(text).toContain("COPY pond_1.2.3_${TARGETARCH}.deb /tmp/package.deb")
  const last = text.slice(text.lastIndexOf("FROM "))
  expect(last).toStartWith("FROM scratch\nCOPY --from=system /image /\n")
  expect(last).not.toContain("RUN")
  expect(last).toContain("USER 65532:65532")
  expect(text).not.toMatch(/@[A-Z]+@/)
})

test("the launcher of npm starts the executable of this machine, with its arguments and its exit code", async () => {
  const modules = join(directory, "node_modules")
  const machine = `pond-${process.platform}-${process.arch}`
  const unpack = async (name: string, archive: Uint8Array) => {
    const place = join(modules, name)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(directory, "package.tgz"), archive)
    expect((await run(["tar", "xzf", "package.tgz", "-C", place, "--strip-components=1"])).code).toBe(0)
    return JSON.parse(readFileSync(join(place, "package.json"), "utf8"))
  }
  const launcher = await unpack("pond", npmLauncher(release))
  expect(Object.keys(launcher.optionalDependencies)).toHaveLength(Object.keys(PACKAGING).length)
  const start = ["node", join(modules, "pond/bin/pond.js"), "search", "two words"]
  const missing = await run(start)
  expect(missing.code).toBe(1)
  expect(missing.out).toContain(`the package ${machine}`)
  const npm = { os: process.platform, cpu: process.arch }
  expect(await unpack(machine, npmPlatformPackage(release, npm, FILES))).toMatchObject({
    name: machine,
    version: "1.2.3",
  })
  expect(await run(start)).toEqual({ code: 7, out: "pond 1.2.3 search two words\n" })
})

test("the bill of materials names every package once, with its license and the pinned checksum", () => {
  const packages = ["elysia", "citty"].map((name) => installedPackage(name).directory)
  const text = billOfMaterials(release, targetNamed("linux-x64"), packages)
  // The same version in another directory, as where two packages bring it.
  const twice = [...packages.toReversed(), packages[0] ?? ""]
  expect(billOfMaterials(release, targetNamed("linux-x64"), twice)).toBe(text)
  const { components } = JSON.parse(text)
  expect(components.map(({ name }: { name: string }) => name)).toEqual(["bun", "citty", "elysia"])
  expect(components[1]).toMatchObject({ licenses: [{ license: { id: "MIT" } }], hashes: [{ alg: "SHA-512" }] })
  expect(components[1].hashes[0].content).toMatch(/^[0-9a-f]{128}$/)
})

test("the licenses of every installed dependency are read, directories of them included", () => {
  const { dependencies } = manifest
  const texts = licensesOf(Object.keys(dependencies).map((name) => installedPackage(name).directory))
  const without = Object.entries(dependencies).filter(([name, version]) => {
    const id = `${name.replace("/", "+")}@${version}.`
    return ![...texts].some(([file, text]) => file.startsWith(id) && text.length > 0)
  })
  expect(without).toEqual([])
  expect([...texts.keys()].filter((name) => name.startsWith("opencc-js@"))).toContain(
    `opencc-js@${dependencies["opencc-js"]}.LICENSES.Apache-2.0.txt`,
  )
})

test("every target has packages, or another build for the same machine has them", () => {
  const without = TARGET_NAMES.filter((name) => PACKAGING[name] === undefined)
  expect(without.filter((name) => PACKAGING[`${name}-baseline` as keyof typeof PACKAGING] === undefined)).toEqual([])
})
