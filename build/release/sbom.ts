/**
 * What an executable is made of, as a CycloneDX document: the runtime and every package of which something is inside,
 * with its version, license and the checksum that `bun.lock` pins. No time and no random number: the same build has the
 * same document.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Release } from "./description.ts"
import { pinnedIntegrity } from "./packages.ts"
import type { Target } from "./targets.ts"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly description?: string
}

/** `packages` are the directories of all packages of which something is in the executable. */
export function billOfMaterials(release: Release, target: Target, packages: readonly string[]): string {
  const manifests = distinct(packages.map(manifestIn)).toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const runtime = { name: "bun", version: Bun.version, license: "MIT", description: "The runtime of the executable" }
  const root = `${release.name}@${release.version}`
  const components = [component(runtime, "application"), ...manifests.map((each) => component(each, "library"))]
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: release.name,
        version: release.version,
        description: release.description,
        licenses: [{ license: { id: release.license } }],
        properties: [{ name: "pond:target", value: target.name }],
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((each) => each["bom-ref"]) }],
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

/** A package may lie in two directories at one version; a document with a component twice is refused by the schema. */
function distinct(manifests: readonly Manifest[]): Manifest[] {
  return [...new Map(manifests.map((manifest) => [`${manifest.name}@${manifest.version}`, manifest])).values()]
}

function manifestIn(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest
}

function component({ name, version, license, description }: Manifest, type: "application" | "library") {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`
  const integrity = pinnedIntegrity(`${name}@${version}`)
  return {
    type,
    "bom-ref": purl,
    name,
    version,
    ...(description === undefined ? {} : { description }),
    purl,
    ...(license === undefined ? {} : { licenses: [licenseOf(license)] }),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  }
}

/** One license has an id; several are an expression. */
function licenseOf(license: string) {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }
}

function hashOf(integrity: string) {
  const [algorithm = "", value = ""] = integrity.split("-")
  const alg = algorithm.toUpperCase().replace(/^SHA/, "SHA-")
  return { alg, content: Buffer.from(value, "base64").toString("hex") }
}
