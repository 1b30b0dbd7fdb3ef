/**
 * Whether there is a newer release, and how this pond is upgraded: by what installed it. Nothing is asked of the network
 * unless a person asks, and nothing is downloaded but the few lines that name the latest release.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { HOMEPAGE } from "../../platform/host/homepage.ts"
import { VERSION } from "../../platform/host/version.ts"
import { shellWord } from "../../platform/process/shell-word.ts"
import { isExecutable } from "../../platform/threads.ts"

export const INSTALLERS = ["script", "homebrew", "npm", "nix", "deb", "rpm", "source", "unknown"] as const
export type Installer = (typeof INSTALLERS)[number]

export interface UpgradeReport {
  readonly version: string
  readonly latest: string
  readonly newer: boolean
  readonly installed_by: Installer
  /** For a shell, in their order. Nothing where only the page can say. */
  readonly commands: readonly string[]
  readonly page: string | null
}

interface LatestRelease {
  readonly version: string
  readonly page: string | undefined
  /** Where its files are. */
  readonly downloads: string | undefined
}

const DOCUMENT = "release.json"
const DOCUMENT_BYTES_MAX = 64 * 1024
const WAIT_MS = 10_000
/** It ends up in commands that a person copies into a shell. */
const VERSION_FORM = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
const URL_FORM = /^https?:\/\/[\w.:/@%~+-]+$/

/** `from` is where to look instead of the page that the build knows: a directory, or a URL that has the files of a release. */
export async function checkUpgrade(from: string | undefined, signal: AbortSignal): Promise<UpgradeReport> {
  const place = from ?? (HOMEPAGE === undefined ? undefined : `${HOMEPAGE}/releases/latest/download`)
  if (place === undefined)
    throw new PondError(
      "not_found",
      "This pond was built from source, and has no release page. Name one with --from URL, or pull and build again.",
    )
  const latest = releaseFrom(await documentAt(place, signal), place)
  const { by, prefix } = installedBy(realpathSync(process.execPath))
  return {
    version: VERSION,
    latest: latest.version,
    newer: Bun.semver.order(latest.version, VERSION) > 0,
    installed_by: by,
    commands: commandsFor(by, prefix, latest),
    page: latest.page ?? null,
  }
}

async function documentAt(place: string, signal: AbortSignal): Promise<string> {
  try {
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true)
      return readFileSync(join(place, DOCUMENT), "utf8")
    if (!URL_FORM.test(place)) throw new Error("it is neither a directory nor a URL")
    const wait = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)])
    const response = await fetch(`${place.replace(/\/+$/, "")}/${DOCUMENT}`, { signal: wait })
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    return await beginningOf(response)
  } catch (cause) {
    if (signal.aborted) throw new PondError("interrupted", "The request was stopped.", { cause })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new PondError(
      "storage_unavailable",
      `Cannot read ${DOCUMENT} from ${place}: ${why}. Name another place with --from.`,
      {
        details: { from: place },
        cause,
      },
    )
  }
}

/** No more than a release document is long, whatever a server sends. */
async function beginningOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > DOCUMENT_BYTES_MAX) break
  }
  return Buffer.concat(pieces).subarray(0, DOCUMENT_BYTES_MAX).toString("utf8")
}

function releaseFrom(text: string, place: string): LatestRelease {
  const parsed = parseJson(text)
  const fields = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const { version, page, downloads } = fields
  if (fields["name"] !== "pond" || typeof version !== "string" || !VERSION_FORM.test(version))
    throw new PondError("validation_failed", `${DOCUMENT} from ${place} does not describe a release of pond.`)
  return { version, page: urlOrNothing(page), downloads: urlOrNothing(downloads) }
}

function urlOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && URL_FORM.test(value) ? value : undefined
}

interface Installed {
  readonly by: Installer
  /** Of the install script: where it put pond. */
  readonly prefix: string
}

/** By where the executable lies, and by what lies beside it. */
export function installedBy(path: string, isBuilt = isExecutable()): Installed {
  const prefix = dirname(dirname(path))
  const found = (by: Installer): Installed => ({ by, prefix })
  if (!isBuilt) return found("source")
  if (path.startsWith("/nix/store/")) return found("nix")
  if (path.includes("/node_modules/")) return found("npm")
  if (path.includes("/Cellar/")) return found("homebrew")
  if (existsSync(join(prefix, "share/doc/pond/installed-files"))) return found("script")
  if (path !== "/usr/bin/pond") return found("unknown")
  return found(existsSync("/var/lib/dpkg/info/pond.list") ? "deb" : "rpm")
}

/** What each processor is called in the name of a package. */
const PROCESSORS: Readonly<Record<string, readonly [deb: string, rpm: string]>> = {
  x64: ["amd64", "x86_64"],
  arm64: ["arm64", "aarch64"],
}

export function commandsFor(by: Installer, prefix: string, { version, downloads }: LatestRelease): readonly string[] {
  if (by === "homebrew") return ["brew update && brew upgrade pond"]
  if (by === "npm") return [`npm install -g pond@${version}`]
  if (by === "nix") return ["nix profile upgrade pond"]
  if (by === "source") return ["git pull && bun install && bun run build"]
  const [deb, rpm] = PROCESSORS[process.arch] ?? []
  if (downloads === undefined || deb === undefined || rpm === undefined) return []
  const fetched = (name: string) => `curl -fLO ${downloads}/${name}`
  if (by === "deb") {
    const name = `pond_${version}_${deb}.deb`
    return [fetched(name), `sudo apt install ./${name}`]
  }
  if (by === "rpm") {
    const name = `pond-${version}-1.${rpm}.rpm`
    return [fetched(name), `sudo dnf install ./${name}`]
  }
  const where = by === "script" ? ` --prefix ${shellWord(prefix)}` : ""
  return [fetched("install.sh"), `sh install.sh${where}`]
}
