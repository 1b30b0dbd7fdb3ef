/** `install.sh` of a release, made from its template with the checksums and sizes of the archives. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { GLIBC_MIN, MUSL_MIN, type Release } from "./description.ts"
import { ROOT } from "./packages.ts"
import { BuildFailure, TARGET_NAMES, type TargetName } from "./targets.ts"

export const ENDINGS = ["tar.zst", "tar.gz"] as const

export interface ReleasedArchive {
  readonly target: TargetName
  readonly ending: (typeof ENDINGS)[number]
  readonly sha256: string
  readonly bytes: number
  /** The room that its files take. */
  readonly unpackedBytes: number
}

export function archiveName({ name, version }: Release, target: TargetName, ending: ReleasedArchive["ending"]): string {
  return `${name}-${version}-${target}.${ending}`
}

export function installScript(release: Release, archives: readonly ReleasedArchive[]): string {
  const template = readFileSync(join(ROOT, "build/release/templates/install.sh"), "utf8")
  return fill(template, {
    VERSION: release.version,
    DOWNLOADS: release.downloads ?? "",
    REPOSITORY: release.attestations ?? "",
    GLIBC_MIN,
    MUSL_MIN,
    TARGETS: TARGET_NAMES.join(", "),
    ARCHIVES: archives
      .map(({ target, ending, sha256, bytes, unpackedBytes }) =>
        [target, ending, sha256, bytes, unpackedBytes].join(" "),
      )
      .join("\n"),
  })
}

/** Puts values where a template says `@NAME@`. A name without a value is a mistake in the template. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/@([A-Z][A-Z0-9_]*)@/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new BuildFailure(`A template asks for @${name}@, which nobody gives.`)
    return value
  })
}
