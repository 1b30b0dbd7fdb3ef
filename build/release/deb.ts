/** A Debian package: an `ar` archive of two tars, one that describes the package and one with its files. */
import { gzipSync } from "node:zlib"
import { type Entry, inFolder, LEVEL_BEST, tar, textEntry, withFolders } from "./archive.ts"
import { DEBIAN_DEPENDENCIES, type Release } from "./description.ts"

const AR_MAGIC = "!<arch>\n"
const LINE_MAX = 78

/** `files` have paths below the prefix, which is `/usr`. */
export async function debianPackage(
  release: Release,
  architecture: string,
  files: readonly Entry[],
  level = LEVEL_BEST,
): Promise<Uint8Array> {
  const data = inFolder("./usr", files)
  const sums = data.map(({ path, content }) => [path.slice("./".length), md5(content)] as const)
  const control = [
    textEntry("./control", controlText(release, architecture, files)),
    textEntry(
      "./md5sums",
      sums
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([path, sum]) => `${sum}  ${path}\n`)
        .join(""),
    ),
  ]
  return Buffer.concat([
    Buffer.from(AR_MAGIC),
    member("debian-binary", Buffer.from("2.0\n")),
    member("control.tar.gz", gzipSync(tar(withFolders(control)), { level: 9 })),
    // One frame: dpkg takes the end of the first for the end of the file.
    member("data.tar.zst", await Bun.zstdCompress(tar(withFolders(data)), { level })),
  ])
}

function controlText(release: Release, architecture: string, files: readonly Entry[]): string {
  const kilobytes = files.reduce((total, { content }) => total + Math.ceil(content.length / 1024), 0)
  const fields: readonly (readonly [field: string, value: string | undefined])[] = [
    ["Package", release.name],
    ["Version", release.version],
    ["Architecture", architecture],
    ["Maintainer", release.maintainer],
    ["Installed-Size", String(kilobytes)],
    ["Depends", DEBIAN_DEPENDENCIES],
    ["Recommends", "ca-certificates"],
    ["Section", "utils"],
    ["Priority", "optional"],
    ["Homepage", release.homepage],
    ["Description", `${release.summary}\n${wrap(release.description)}`],
  ]
  return fields.map(([field, value]) => (value === undefined ? "" : `${field}: ${value}\n`)).join("")
}

/** Lines of a long value begin with a blank. */
function wrap(text: string): string {
  const lines: string[] = [""]
  for (const word of text.split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > LINE_MAX) lines.push("")
    lines[lines.length - 1] += ` ${word}`
  }
  return lines.join("\n")
}

/** Names and numbers in columns of fixed width; without a time and an owner. */
function member(name: string, content: Uint8Array): Uint8Array {
  const columns = [name.padEnd(16), "0".padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)]
  const header = `${columns.join("")}${String(content.length).padEnd(10)}\`\n`
  return Buffer.concat([Buffer.from(header), content, Buffer.from(content.length % 2 === 0 ? "" : "\n")])
}

function md5(content: Uint8Array): string {
  return new Bun.CryptoHasher("md5").update(content).digest("hex")
}
