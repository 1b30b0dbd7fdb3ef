/**
 * `bun run release`: what a release offers for download, in `dist/release`. For each `--target NAME` (without one: this
 * machine) the archives and packages of that machine; then what is made over all archives that lie there: checksums, the
 * install script, the formula, the flake, the container image, the plugin and the launcher for npm. `--target NAME --only build` and `--only finish` are the two
 * halves, for builds on several machines. `--repository URL` says where the release will be, `--downloads URL` that its
 * files are elsewhere; `--draft` compresses quickly, for trying it out.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { pluginFiles, registryEntry } from "./plugins/plugin.ts"
import { type Entry, inFolder, LEVEL_DRAFT, tar, zstd } from "./release/archive.ts"
import { bundle, bundleName } from "./release/bundle.ts"
import { containerfile } from "./release/container.ts"
import { debianPackage } from "./release/deb.ts"
import { describeRelease, PACKAGING, type Release } from "./release/description.ts"
import { makeExecutable } from "./release/executable.ts"
import { flake } from "./release/flake.ts"
import { formula } from "./release/formula.ts"
import { archiveName, ENDINGS, installScript, type ReleasedArchive } from "./release/install-script.ts"
import { notarise } from "./release/notarise.ts"
import { npmArchiveName, npmLauncher, npmPlatformPackage } from "./release/npm.ts"
import { ROOT } from "./release/packages.ts"
import { sharedFiles } from "./release/payload.ts"
import { rpmPackage } from "./release/rpm.ts"
import { billOfMaterials } from "./release/sbom.ts"
import { BuildFailure, hostTarget, orFailure, TARGET_NAMES, type Target, targetNamed } from "./release/targets.ts"

const RELEASE = join(ROOT, "dist/release")

export function releasePath(name: string): string {
  return join(RELEASE, name)
}

function publish(name: string, content: string | Uint8Array): void {
  mkdirSync(RELEASE, { recursive: true })
  writeFileSync(join(RELEASE, name), content)
  console.log(`${name}  ${(content.length / 1e6).toFixed(1)} MB`)
}

/** The archives and packages of one target. A draft is compressed badly and quickly. */
export async function buildTarget(release: Release, target: Target, isDraft = false): Promise<void> {
  const executable = join(ROOT, `dist/pond-${target.name}`)
  console.log(`Building ${target.name}${isDraft ? "" : "; compressing its libraries takes minutes the first time"}`)
  const { packages } = await makeExecutable({
    target,
    out: executable,
    isRelease: !isDraft,
    homepage: release.homepage,
  })
  console.log(`${target.name}: ${notarise(target, executable)}`)
  const level = isDraft ? LEVEL_DRAFT : undefined
  const pond: Entry = { path: "pond", content: readFileSync(executable), isExecutable: true }
  const shared = await sharedFiles(packages)
  const documents = ["README.md", "LICENSE"].map((name) => ({ path: name, content: readFileSync(join(ROOT, name)) }))
  const folder = `${release.name}-${release.version}-${target.name}`
  const archive = tar(inFolder(folder, [pond, ...documents, ...shared]))
  publish(archiveName(release, target.name, "tar.zst"), await zstd(archive, level))
  publish(archiveName(release, target.name, "tar.gz"), gzipSync(archive, { level: isDraft ? 1 : 9 }))
  publish(`${folder}.cdx.json`, billOfMaterials(release, target, packages))
  await packageTarget(release, target, [{ ...pond, path: "bin/pond" }, ...shared], level)
}

/** `files` have paths below a prefix. */
async function packageTarget(
  release: Release,
  target: Target,
  files: readonly Entry[],
  level: number | undefined,
): Promise<void> {
  const packaging = PACKAGING[target.name]
  if (packaging === undefined) return
  const { npm, deb, rpm, mcpb } = packaging
  publish(npmArchiveName(release, npm), npmPlatformPackage(release, npm, files))
  if (deb !== undefined) publish(`pond_${release.version}_${deb}.deb`, await debianPackage(release, deb, files, level))
  if (rpm !== undefined) publish(`pond-${release.version}-1.${rpm}.rpm`, await rpmPackage(release, rpm, files, level))
  const executable = files.find(({ isExecutable }) => isExecutable)
  if (mcpb !== undefined && executable !== undefined)
    publish(bundleName(release, target.name), bundle(release, mcpb, executable.content, level === undefined ? 9 : 1))
}

/** What is made over the archives of all targets. */
function finish(release: Release): void {
  const archives = archivesIn(release)
  if (archives.length === 0) throw new BuildFailure(`${RELEASE} has no archive of ${release.version}.`)
  publish("install.sh", installScript(release, archives))
  publish(npmArchiveName(release, undefined), npmLauncher(release))
  publishPlugin(release)
  publish("Containerfile", containerfile(release))
  publish("release.json", releaseDocument(release))
  for (const [name, text] of [
    ["pond.rb", formula(release, archives)],
    ["flake.nix", flake(release, archives)],
  ] as const)
    if (text === undefined) console.log(`${name} is left out: it needs --repository URL and an archive it can install`)
    else publish(name, text)
  rmSync(releasePath("SHA256SUMS"), { force: true })
  const names = readdirSync(RELEASE).toSorted()
  publish("SHA256SUMS", names.map((name) => `${sha256Of(readFileSync(releasePath(name)))}  ${name}\n`).join(""))
}

/** What `pond upgrade` reads of the latest release. */
function releaseDocument({ name, version, homepage, downloads }: Release): string {
  return `${JSON.stringify({ name, version, page: homepage, downloads }, undefined, 2)}\n`
}

/** What agents install besides the executable. */
function publishPlugin(release: Release): void {
  const files = pluginFiles(release).map(({ path, text }) => ({ path, content: Buffer.from(text) }))
  const folder = `${release.name}-plugin-${release.version}`
  publish(`${folder}.tar.gz`, gzipSync(tar(inFolder(folder, files)), { level: 9 }))
  const entry = registryEntry(release)
  if (entry === undefined) console.log("server.json is left out: it needs --repository URL")
  else publish("server.json", entry)
}

function archivesIn(release: Release): ReleasedArchive[] {
  return TARGET_NAMES.flatMap((target) =>
    ENDINGS.flatMap((ending) => {
      const gzipped = releasePath(archiveName(release, target, "tar.gz"))
      const path = releasePath(archiveName(release, target, ending))
      if (!existsSync(path) || !existsSync(gzipped)) return []
      const content = readFileSync(path)
      // A gzip file ends with the length of its contents.
      const unpackedBytes = readFileSync(gzipped).readUInt32LE(readFileSync(gzipped).length - 4)
      return [{ target, ending, sha256: sha256Of(content), bytes: content.length, unpackedBytes }]
    }),
  )
}

function sha256Of(content: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex")
}

const OPTIONS = {
  target: { type: "string", multiple: true, default: [] as string[] },
  only: { type: "string" },
  repository: { type: "string" },
  downloads: { type: "string" },
  maintainer: { type: "string" },
  draft: { type: "boolean", default: false },
} as const

/** Of a build on GitHub, its environment says which repository it is of. */
function repositoryOfEnvironment(): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env
  return server === undefined || repository === undefined ? undefined : `${server}/${repository}`
}

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Bun.argv.slice(2), options: OPTIONS })
  const { only, downloads, maintainer, repository = repositoryOfEnvironment() } = values
  if (only !== undefined && only !== "build" && only !== "finish")
    throw new BuildFailure(`--only is build or finish, not ${only}.`)
  const release = describeRelease({ repository, downloads, maintainer })
  const targets = values.target.length === 0 ? [hostTarget()] : values.target.map(targetNamed)
  if (only !== "finish") for (const target of targets) await buildTarget(release, target, values.draft)
  if (only !== "build") finish(release)
  return 0
}

if (import.meta.main) process.exitCode = await orFailure("release", main)
