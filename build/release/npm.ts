/**
 * The packages for npm: one for each machine with the executable inside, and `pond`, which has all of them as optional
 * dependencies and starts the one that npm installed.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { registryName } from "../plugins/plugin.ts"
import { type Entry, inFolder, tar, textEntry } from "./archive.ts"
import { PACKAGING, type Packaging, type Release } from "./description.ts"
import { fill } from "./install-script.ts"
import { ROOT } from "./packages.ts"

const NODE_MIN = ">=18"

/** `pond-linux-x64` and so on: npm knows a machine by system, processor and C library. */
function platformPackage({ name }: Release, { os, cpu, libc }: Packaging["npm"]): string {
  return `${name}-${os}-${cpu}${libc === "musl" ? "-musl" : ""}`
}

export function npmArchiveName(release: Release, npm: Packaging["npm"] | undefined): string {
  return `npm-${npm === undefined ? release.name : platformPackage(release, npm)}-${release.version}.tgz`
}

export function npmPlatformPackage(release: Release, npm: Packaging["npm"], files: readonly Entry[]): Uint8Array {
  const machine = { os: [npm.os], cpu: [npm.cpu], ...(npm.libc === undefined ? {} : { libc: [npm.libc] }) }
  const manifest = {
    ...commonFields(release, platformPackage(release, npm)),
    description: `The executable of ${release.name} for ${npm.os} ${npm.cpu}`,
    ...machine,
    preferUnplugged: true,
  }
  return packed(manifest, files)
}

export function npmLauncher(release: Release): Uint8Array {
  const machines = Object.values(PACKAGING).map(({ npm }) => platformPackage(release, npm))
  const manifest = {
    ...commonFields(release, release.name),
    description: release.summary,
    type: "commonjs",
    bin: { [release.name]: "bin/pond.js" },
    engines: { node: NODE_MIN },
    // By this the registry of MCP servers knows that `server.json` is of the same hands.
    ...(registryName(release) === undefined ? {} : { mcpName: registryName(release) }),
    optionalDependencies: Object.fromEntries(machines.map((name) => [name, release.version])),
  }
  const template = readFileSync(join(ROOT, "build/release/templates/launcher.js"), "utf8")
  const launcher = {
    ...textEntry("bin/pond.js", fill(template, { MACHINES: machines.join(", ") })),
    isExecutable: true,
  }
  const documents = ["README.md", "LICENSE"].map((name) => ({ path: name, content: readFileSync(join(ROOT, name)) }))
  return packed(manifest, [launcher, ...documents])
}

function commonFields({ version, license, homepage }: Release, name: string) {
  const repository = homepage === undefined ? {} : { homepage, repository: { type: "git", url: `git+${homepage}.git` } }
  return { name, version, license, ...repository }
}

function packed(manifest: object, files: readonly Entry[]): Uint8Array {
  const all = [textEntry("package.json", `${JSON.stringify(manifest, undefined, 2)}\n`), ...files]
  return gzipSync(tar(inFolder("package", all)), { level: 9 })
}
