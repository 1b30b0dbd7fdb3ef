/**
 * Packages of other machines: `bun install` brings only those of this one. What a target needs besides is fetched by the
 * same client from the same registry, at the version that `bun.lock` pins, and kept beside the installed packages.
 * A package that is not to be had fails the build by its name: a build without one of its libraries would be a lie.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { BuildFailure, type Target } from "./targets.ts"

export const ROOT = join(import.meta.dir, "../..")
export const BUILD_CACHE = join(ROOT, "node_modules/.cache/pond")

/** Of packages that no install of the project brings, and `bun.lock` therefore does not list. */
const PINNED_HERE: Readonly<Record<string, string>> = {
  "onnxruntime-web@1.21.0":
    "sha512-adzOe+7uI7lKz6pQNbAsLMQd2Fq5Jhmoxd8LZjJr8m3KvbFyiYyRxRiC57/XXD+jb18voppjeGAjoZmskXG+7A==",
}

export interface Package {
  readonly name: string
  readonly version: string
  readonly directory: string
}

type LockEntry = readonly [id: string, tarball: string, dependencies: Dependencies, integrity: string]
type Dependencies = Readonly<
  Record<"dependencies" | "optionalDependencies", Readonly<Record<string, string>> | undefined>
>

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>
}

/** An optional package of `parent`, for the machine of `target`. */
export async function packageFor(target: Target, parent: string, name: string): Promise<Package> {
  const version = pinnedVersion(parent, name)
  if (version === undefined) throw new BuildFailure(`${target.name} needs ${name}, which ${parent} does not ship.`)
  return await packageAt(target, name, version)
}

export async function packageAt(target: Target, name: string, version: string): Promise<Package> {
  const installed = join(ROOT, "node_modules", name)
  if (versionIn(installed) === version) return { name, version, directory: installed }
  const store = join(BUILD_CACHE, "packages", `${name.replace("/", "+")}@${version}`)
  const directory = join(store, "node_modules", name)
  if (versionIn(directory) !== version) await fetchInto(store, target, name, version)
  return { name, version, directory }
}

/** A package that carries the files of all machines, so that the ordinary install has it. */
export function installedPackage(name: string): Package {
  const directory = join(ROOT, "node_modules", name)
  const version = versionIn(directory)
  if (version === undefined) throw new BuildFailure(`${name} is not installed. Run \`bun install\` first.`)
  return { name, version, directory }
}

async function fetchInto(store: string, target: Target, name: string, version: string): Promise<void> {
  const draft = `${store}.${process.pid}.draft`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  const manifest = { name: "pond-natives", private: true, dependencies: { [name]: version } }
  await Bun.write(join(draft, "package.json"), JSON.stringify(manifest))
  const platform = [`--os=${target.os}`, `--cpu=${target.cpu}`, ...(target.libc ? [`--libc=${target.libc}`] : [])]
  const child = Bun.spawn([process.execPath, "install", "--ignore-scripts", "--no-progress", ...platform], {
    cwd: draft,
    env: process.env,
    stdout: "pipe",
    stderr: "pipe",
  })
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0 || versionIn(join(draft, "node_modules", name)) !== version) {
    rmSync(draft, { recursive: true, force: true })
    const [reason = ""] = said.split("\n").filter((line) => /^(?:error|warn)/.test(line))
    throw new BuildFailure(`${target.name} needs ${name} ${version}, which the registry does not give (${reason}).`)
  }
  assertPinned(draft, name)
  rmSync(store, { recursive: true, force: true })
  renameSync(draft, store)
}

/** What came must be what was pinned. `bun.lock` knows nothing of packages that its registry did not have. */
function assertPinned(draft: string, name: string): void {
  const [id = name, , , contents] = lockIn(draft).packages[name] ?? []
  const locked = lockIn(ROOT).packages[name]
  const pinned = PINNED_HERE[id] ?? (locked?.[0] === id ? locked[3] : undefined)
  if (pinned === undefined) console.warn(`note: the version of ${id} is pinned, its contents are not`)
  else if (contents !== pinned) throw new BuildFailure(`${id} is not what was pinned: ${contents}, not ${pinned}.`)
}

/** The checksum that is pinned of `name@version`, as npm writes it. */
export function pinnedIntegrity(id: string): string | undefined {
  const locked = Object.values(lockIn(ROOT).packages).find(([each]) => each === id)
  return PINNED_HERE[id] ?? locked?.[3]
}

function pinnedVersion(parent: string, name: string): string | undefined {
  const dependencies = lockIn(ROOT).packages[parent]?.[2]
  return dependencies?.optionalDependencies?.[name] ?? dependencies?.dependencies?.[name]
}

function lockIn(directory: string): Lock {
  return Bun.JSONC.parse(readFileSync(join(directory, "bun.lock"), "utf8")) as Lock
}

function versionIn(directory: string): string | undefined {
  const manifest = join(directory, "package.json")
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version
}
