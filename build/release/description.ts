/**
 * The one description of a release. The install script, the formula, the flake and the packages of npm, Debian and RPM are
 * all written from it, so that they cannot tell different stories.
 */
import { description, license, name, version } from "../../package.json"
import { BuildFailure } from "./targets.ts"

export interface Release {
  readonly name: string
  readonly version: string
  /** One line, without a full stop. */
  readonly summary: string
  readonly description: string
  readonly license: string
  /** The page of the project, where the build knows it. */
  readonly homepage: string | undefined
  /** `owner/name` where attestations are kept, if the release has any. */
  readonly attestations: string | undefined
  /** The URL below which the files of this release are. */
  readonly downloads: string | undefined
  readonly maintainer: string
}

/** The oldest glibc that has what ONNX Runtime calls. The other libraries are content with 2.25. */
export const GLIBC_MIN = "2.27"

/** `repository` is the URL of the project's page, whose releases have a file each below `/releases/download/<tag>`. */
export interface Origin {
  readonly repository: string | undefined
  /** Where the files are instead. */
  readonly downloads: string | undefined
  readonly maintainer: string | undefined
}

export function describeRelease({ repository, downloads, maintainer }: Origin): Release {
  const homepage = repository === undefined ? undefined : httpUrl(repository)
  const ofRepository = homepage === undefined ? undefined : `${homepage}/releases/download/v${version}`
  return {
    name,
    version,
    summary: "Keeps and finds every conversation with your coding agents",
    description,
    license,
    homepage,
    attestations: homepage === undefined ? undefined : new URL(homepage).pathname.slice(1),
    downloads: downloads === undefined ? ofRepository : httpUrl(downloads),
    maintainer: maintainer ?? `The authors of ${name} <${name}@localhost>`,
  }
}

/** It ends up in a script that a shell runs, so it may hold nothing that a shell reads. */
function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:\/\/[\w.:/@%~+-]+$/.test(text)) throw new BuildFailure(`"${text}" is not a URL.`)
  return text.replace(/\/+$/, "")
}
