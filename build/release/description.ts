/**
 * The one description of a release. The install script, the formula, the flake, the container image, the plugins and the
 * packages of npm, Debian and RPM are all written from it, so that they cannot tell different stories.
 */
import { description, license, name, version } from "../../package.json"
import { BuildFailure, type TargetName } from "./targets.ts"

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
/** The oldest musl that pond was run with, that of Alpine 3.17. (Debian's build of the same version crashes the runtime.) */
export const MUSL_MIN = "1.2.3"

/** System libraries that the native libraries are linked with. */
export const DEBIAN_DEPENDENCIES = `libc6 (>= ${GLIBC_MIN}), libgcc-s1 | libgcc1, libstdc++6 (>= 8)`
export const RPM_DEPENDENCIES = ["libc.so.6(GLIBC_2.27)(64bit)", "libgcc_s.so.1()(64bit)", "libstdc++.so.6()(64bit)"]

export interface Packaging {
  readonly npm: { readonly os: string; readonly cpu: string; readonly libc?: "glibc" | "musl" }
  readonly deb?: string
  readonly rpm?: string
  /** The system that a bundle for MCPB is for: its manifest knows no C library. */
  readonly mcpb?: "linux" | "darwin"
}

/**
 * What packages there are of a target. A package manager does not look at the processor as closely as the install script
 * does, so packages for x64 carry the executable that runs on every processor of that kind.
 */
export const PACKAGING: Readonly<Partial<Record<TargetName, Packaging>>> = {
  "linux-x64-baseline": {
    npm: { os: "linux", cpu: "x64", libc: "glibc" },
    deb: "amd64",
    rpm: "x86_64",
    mcpb: "linux",
  },
  "linux-arm64": { npm: { os: "linux", cpu: "arm64", libc: "glibc" }, deb: "arm64", rpm: "aarch64", mcpb: "linux" },
  "linux-x64-musl": { npm: { os: "linux", cpu: "x64", libc: "musl" } },
  "linux-arm64-musl": { npm: { os: "linux", cpu: "arm64", libc: "musl" } },
  "darwin-arm64": { npm: { os: "darwin", cpu: "arm64" }, mcpb: "darwin" },
}

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
