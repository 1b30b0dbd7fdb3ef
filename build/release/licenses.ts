/**
 * The licenses of what an executable is made of, one text per package: what the archive of a release carries beside it.
 * A package that says nothing about its license fails the release.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { installedPackage } from "./packages.ts"
import { BuildFailure } from "./targets.ts"

const LICENSE_FILE = /^(?:licen[cs]es?|copying|notice)(?:\.(?:md|txt))?$|third.?party.?(?:licen[cs]e|notice)s/i

/** File names and contents, by package; the runtime first. */
export function licensesOf(packages: readonly string[]): Map<string, string> {
  const runtime = join(installedPackage("bun-types").directory, "docs/project/license.mdx")
  const texts = new Map([[`bun@${Bun.version}.md`, readFileSync(runtime, "utf8")]])
  for (const directory of packages.toSorted()) addLicense(texts, directory)
  return texts
}

function addLicense(texts: Map<string, string>, directory: string): void {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as {
    name: string
    version: string
    license?: string
  }
  const id = `${manifest.name.replace("/", "+")}@${manifest.version}`
  const files = licenseFiles(directory)
  for (const path of files) {
    const text = readFileSync(join(directory, path), "utf8")
    const name = path.replaceAll("/", ".")
    texts.set(name.endsWith(".html") ? `${id}.${name}` : `${id}.${name.replace(/\.(?:txt|md)$/, "")}.txt`, text)
  }
  if (files.length > 0) return
  if (manifest.license === undefined) throw new BuildFailure(`${id} does not say under which license it is.`)
  texts.set(`${id}.txt`, `${manifest.name} ${manifest.version} is licensed under: ${manifest.license}\n`)
}

/** A package under several licenses may have a directory of them: opencc-js has `LICENSES/`. */
function licenseFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => LICENSE_FILE.test(name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(directory, entry.name)).map((name) => `${entry.name}/${name}`)
        : entry.name,
    )
}
