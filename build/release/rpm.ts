/**
 * An RPM package, as the format says it (https://rpm-software-management.github.io/rpm/manual/format_v4.html): a lead, a
 * header with checksums of what follows, the header of the package, and a cpio archive of the files.
 */
import { type Entry, inFolder, LEVEL_BEST, withFolders } from "./archive.ts"
import { type Release, RPM_DEPENDENCIES } from "./description.ts"

const LEAD_BYTES = 96
const LEAD_MAGIC = 0xedabeedb
const HEADER_MAGIC = Buffer.from([0x8e, 0xad, 0xe8, 0x01, 0, 0, 0, 0])
const REGION_BYTES = 16
const FILE_MODE = 0o100644
const EXECUTABLE_MODE = 0o100755
const FOLDER_MODE = 0o040755

const TYPE = { int16: 3, int32: 4, string: 6, binary: 7, strings: 8, translated: 9 } as const
const REGION = { signature: 62, package: 63 } as const
const SENSE = { any: 0, equal: 8, features: 0x1000000 | 2 | 8 } as const

/** What rpm must know to read this package, and since which version it does. */
const FEATURES: readonly (readonly [name: string, since: string])[] = [
  ["rpmlib(CompressedFileNames)", "3.0.4-1"],
  ["rpmlib(FileDigests)", "4.6.0-1"],
  ["rpmlib(PayloadFilesHavePrefix)", "4.0-1"],
  ["rpmlib(PayloadIsZstd)", "5.4.18-1"],
]

interface Tag {
  readonly tag: number
  readonly type: (typeof TYPE)[keyof typeof TYPE]
  readonly value: readonly number[] | readonly string[] | Uint8Array
}

/** `files` have paths below the prefix, which is `/usr`. */
export async function rpmPackage(
  release: Release,
  architecture: string,
  files: readonly Entry[],
  level = LEVEL_BEST,
): Promise<Uint8Array> {
  // Folders of the system belong to other packages.
  const own = (path: string) => /^\.\/usr\/share\/doc\/pond\//.test(path)
  const listed = withFolders(inFolder("./usr", files)).filter((entry) => entry.isFolder !== true || own(entry.path))
  const entries = listed
    .map((entry) => ({ ...entry, path: entry.path.replace(/\/$/, "") }))
    .toSorted((left, right) => (left.path < right.path ? -1 : 1))
  const archive = cpio(entries)
  const payload = await Bun.zstdCompress(archive, { level })
  const header = headerOf(packageTags(release, architecture, entries, payload), REGION.package)
  const signature = headerOf(signatureTags(header, payload, archive.length), REGION.signature)
  const padding = Buffer.alloc(-signature.length & 7)
  return Buffer.concat([lead(release), signature, padding, header, payload])
}

function lead({ name, version }: Release): Uint8Array {
  const bytes = Buffer.alloc(LEAD_BYTES)
  bytes.writeUInt32BE(LEAD_MAGIC)
  bytes.writeUInt8(3, 4)
  bytes.writeUInt16BE(1, 8)
  bytes.write(`${name}-${version}-1`, 10)
  bytes.writeUInt16BE(1, 76)
  bytes.writeUInt16BE(5, 78)
  return bytes
}

function packageTags(
  release: Release,
  architecture: string,
  entries: readonly Entry[],
  payload: Uint8Array,
): readonly Tag[] {
  const { name, version, summary, description, license, homepage } = release
  const tags = [
    text(100, ["C"], TYPE.strings),
    text(1000, [name]),
    text(1001, [version]),
    text(1002, ["1"]),
    text(1004, [summary], TYPE.translated),
    text(1005, [description], TYPE.translated),
    numbers(1009, [entries.reduce((total, { content }) => total + content.length, 0)]),
    text(1014, [license]),
    text(1016, ["Applications/Productivity"], TYPE.translated),
    ...(homepage === undefined ? [] : [text(1020, [homepage])]),
    text(1021, ["linux"]),
    text(1022, [architecture]),
    text(1044, [`${name}-${version}-1.src.rpm`]),
    text(1047, [name], TYPE.strings),
    numbers(1112, [SENSE.equal]),
    text(1113, [`${version}-1`], TYPE.strings),
    text(1124, ["cpio"]),
    text(1125, ["zstd"]),
    text(1126, [String(LEVEL_BEST)]),
    numbers(5011, [8]),
    text(5092, [sha256(payload)], TYPE.strings),
    numbers(5093, [8]),
  ]
  return [...tags, ...dependencyTags(), ...fileTags(entries)].toSorted((left, right) => left.tag - right.tag)
}

function dependencyTags(): readonly Tag[] {
  const needed = [
    ...RPM_DEPENDENCIES.map((name) => ({ name, flags: SENSE.any as number, version: "" })),
    ...FEATURES.map(([name, version]) => ({ name, flags: SENSE.features as number, version })),
  ]
  return [
    numbers(1048, needed.map(flagsOf)),
    text(
      1049,
      needed.map(({ name }) => name),
      TYPE.strings,
    ),
    text(
      1050,
      needed.map(({ version }) => version),
      TYPE.strings,
    ),
  ]
}

function flagsOf({ flags }: { readonly flags: number }): number {
  return flags
}

/** A list for each property of files: sizes, modes, devices, times, digests and so on; names are cut at the last slash. */
function fileTags(entries: readonly Entry[]): readonly Tag[] {
  const folders = [...new Set(entries.map(({ path }) => folderOf(path)))]
  const all = (value: number) => entries.map(() => value)
  const allText = (value: string) => entries.map(() => value)
  const digests = entries.map(({ content, isFolder }) => (isFolder === true ? "" : sha256(content)))
  const names = entries.map(({ path }) => path.slice(path.lastIndexOf("/") + 1))
  const sizes = entries.map(({ content }) => content.length)
  const inodes = entries.map((_, index) => index + 1)
  const folderNumbers = entries.map(({ path }) => folders.indexOf(folderOf(path)))
  return [
    numbers(1028, sizes),
    numbers(1030, entries.map(modeOf), TYPE.int16),
    numbers(1033, all(0), TYPE.int16),
    numbers(1034, all(0)),
    text(1035, digests, TYPE.strings),
    text(1036, allText(""), TYPE.strings),
    numbers(1037, all(0)),
    text(1039, allText("root"), TYPE.strings),
    text(1040, allText("root"), TYPE.strings),
    numbers(1045, all(-1)),
    numbers(1095, all(1)),
    numbers(1096, inodes),
    text(1097, allText(""), TYPE.strings),
    numbers(1116, folderNumbers),
    text(1117, names, TYPE.strings),
    text(1118, folders, TYPE.strings),
  ]
}

function signatureTags(header: Uint8Array, payload: Uint8Array, archiveBytes: number): readonly Tag[] {
  const both = new Bun.CryptoHasher("md5").update(header).update(payload)
  return [
    text(269, [new Bun.CryptoHasher("sha1").update(header).digest("hex")]),
    text(273, [sha256(header)]),
    numbers(1000, [header.length + payload.length]),
    { tag: 1004, type: TYPE.binary, value: both.digest() },
    numbers(1007, [archiveBytes]),
  ]
}

// --- Headers ---------------------------------------------------------------------------------------------------------

function text(tag: number, value: readonly string[], type: Tag["type"] = TYPE.string): Tag {
  return { tag, type, value }
}

function numbers(tag: number, value: readonly number[], type: Tag["type"] = TYPE.int32): Tag {
  return { tag, type, value }
}

/** An index of tags in order, each with a place in the store behind it. The first entry spans the whole of both. */
function headerOf(tags: readonly Tag[], region: number): Buffer {
  const index: Buffer[] = []
  const store: Buffer[] = []
  let length = 0
  const push = (bytes: Buffer) => {
    store.push(bytes)
    length += bytes.length
  }
  for (const tag of tags) {
    push(Buffer.alloc(-length & (alignmentOf(tag.type) - 1)))
    index.push(indexEntry(tag.tag, tag.type, length, tag.value.length))
    push(bytesOf(tag))
  }
  const entries = tags.length + 1
  index.unshift(indexEntry(region, TYPE.binary, length, REGION_BYTES))
  push(indexEntry(region, TYPE.binary, -entries * REGION_BYTES, REGION_BYTES))
  const sizes = Buffer.alloc(8)
  sizes.writeUInt32BE(entries)
  sizes.writeUInt32BE(length, 4)
  return Buffer.concat([HEADER_MAGIC, sizes, ...index, ...store])
}

function indexEntry(tag: number, type: number, offset: number, count: number): Buffer {
  const entry = Buffer.alloc(REGION_BYTES)
  entry.writeUInt32BE(tag)
  entry.writeUInt32BE(type, 4)
  entry.writeInt32BE(offset, 8)
  entry.writeUInt32BE(count, 12)
  return entry
}

function alignmentOf(type: Tag["type"]): number {
  if (type === TYPE.int16) return 2
  return type === TYPE.int32 ? 4 : 1
}

function bytesOf({ type, value }: Tag): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value)
  const width = alignmentOf(type)
  return Buffer.concat(
    value.map((each) => {
      if (typeof each === "string") return Buffer.from(`${each}\0`)
      const bytes = Buffer.alloc(width)
      bytes.writeUIntBE(width === 2 ? each & 0xffff : each >>> 0, 0, width)
      return bytes
    }),
  )
}

// --- Files -----------------------------------------------------------------------------------------------------------

/** The portable format: a line of hexadecimal numbers and a name before each file, both padded to four bytes. */
function cpio(entries: readonly Entry[]): Buffer<ArrayBuffer> {
  const blocks = entries.flatMap((entry, index) => cpioEntry(entry.path, modeOf(entry), index + 1, entry.content))
  return Buffer.concat([...blocks, ...cpioEntry("TRAILER!!!", 0, 0, new Uint8Array())])
}

function cpioEntry(path: string, mode: number, inode: number, content: Uint8Array): readonly Uint8Array[] {
  const fields = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, Buffer.byteLength(path) + 1, 0]
  const head = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}${path}\0`)
  return [head, Buffer.alloc(-head.length & 3), content, Buffer.alloc(-content.length & 3)]
}

function modeOf({ isExecutable, isFolder }: Entry): number {
  if (isFolder === true) return FOLDER_MODE
  return isExecutable === true ? EXECUTABLE_MODE : FILE_MODE
}

/** Absolute, with a slash at the end. */
function folderOf(path: string): string {
  return path.slice(1, path.lastIndexOf("/") + 1)
}

function sha256(content: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex")
}
