/**
 * The version of an installed program, read from what its package manager wrote beside it. The program itself is never run: a
 * list of clients must not start them. Read are one manifest, or the names in one folder, at places that are known.
 */
import { readdirSync, readFileSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/**
 * Nothing where the program came in another way: as one file, through a script that starts it, or in a package of another
 * name, such as a Node that happens to hold it.
 */
export function packageVersion(program: string, packages: readonly string[]): string | undefined {
  try {
    const real = realpathSync(program)
    return ofNode(real, packages) ?? ofHomebrew(real) ?? ofFolder(real, basename(program)) ?? ofPython(real, packages)
  } catch {
    return undefined
  }
}

/** `…/node_modules/NAME/…`, or a package of one platform beside it: `NAME-linux-x64`. */
function ofNode(real: string, packages: readonly string[]): string | undefined {
  const below = /^(.*\/node_modules\/)((?:@[^/]+\/)?[^/]+)\//.exec(real)
  const [, modules = "", name = ""] = below ?? []
  if (!packages.some((each) => name === each || name.startsWith(`${each}-`))) return undefined
  const { version } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as { version?: unknown }
  return typeof version === "string" ? version : undefined
}

/** `…/Cellar/FORMULA/1.2.3_1/bin/NAME`. The revision is of the formula. */
function ofHomebrew(real: string): string | undefined {
  return /\/(?:Cellar|Caskroom)\/[^/]+\/(\d[\w.-]*?)(?:_\d+)?\//.exec(real)?.[1]
}

/** `…/NAME/versions/1.2.3`, as installers lay their programs out that update themselves. */
function ofFolder(real: string, name: string): string | undefined {
  const [, folder, version] = /\/([^/]+)\/versions\/(\d+\.[\w.-]+)(?:\/|$)/.exec(real) ?? []
  return folder === name ? version : undefined
}

/** `…/bin/NAME` of an environment: its libraries say in their folders' names which packages it holds. */
function ofPython(real: string, packages: readonly string[]): string | undefined {
  const libraries = join(dirname(dirname(real)), "lib")
  const wanted = packages.map((name) => name.replaceAll("-", "_"))
  for (const python of readdirSync(libraries).filter((name) => name.startsWith("python3")))
    for (const folder of ["site-packages", "dist-packages"]) {
      const version = infoIn(join(libraries, python, folder), wanted)
      if (version !== undefined) return version
    }
  return undefined
}

function infoIn(folder: string, wanted: readonly string[]): string | undefined {
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return undefined
  }
  const versions = names.flatMap((name) => {
    const [, packageName = "", version = ""] = /^(\w+)-(\d[^-]*)\.dist-info$/.exec(name) ?? []
    return wanted.includes(packageName.toLowerCase()) ? [version] : []
  })
  return versions[0]
}
