/**
 * Kinds of damage at rest, what each costs, and the same store on a disk and in a bucket, where files are objects. Used by
 * the tests of damage and by `bun run attack damage`.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { createLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { defineTable, utf8 } from "../../src/substrate/table-definition.ts"
import { GOOGLE_ROOT } from "./object-protocol.ts"
import { type ObjectServer, type StoreKind, TEST_BUCKET, TEST_KEY } from "./object-server.ts"
import { SEED } from "./seed.ts"

export const TABLE = defineTable({
  name: "messages",
  columns: { session_id: utf8(), id: utf8(), text: utf8() },
  key: ["session_id", "id"],
  indexes: [{ kind: "btree", column: "id" }],
  schemaVersion: 1,
})

export const COMMITS = 4
export const ROWS = 20

export const rowsOf = (commit: number) =>
  Array.from({ length: ROWS }, (_, index) => ({
    session_id: `session-${commit}`,
    id: `row-${commit}-${index}`,
    text: `some words ${commit} ${index}`,
  }))

export const ALL = Array.from({ length: COMMITS }, (_, commit) => rowsOf(commit)).flat()

// --- Places -----------------------------------------------------------------------------------------------------------

/** A store and its files, by paths below it. */
export interface DamagedPlace {
  readonly url: string
  /** What reaches it, for a process. */
  readonly environment: Readonly<Record<string, string>>
  open(log?: string[]): Store
  paths(): string[]
  read(path: string): Uint8Array
  write(path: string, content: Uint8Array): void
  remove(path: string): void
  /** A folder in place of a file, where there are folders. */
  readonly makeFolder?: (path: string) => void
  /** The same store elsewhere, as a backup brings it back; this one is gone. */
  copied(): DamagedPlace
  end(): void
}

const open = (url: string, environment: Readonly<Record<string, string>>, log: string[]) =>
  openStore(parseLocation(url, { environment }), {
    clock: systemClock,
    random: seededRandom(SEED),
    log: createLog("warn", (line) => log.push(line)),
  })

export function onDisk(path = mkdtempSync(join(tmpdir(), "pond-damage-"))): DamagedPlace {
  return {
    url: path,
    environment: {},
    open: (log = []) => open(path, {}, log),
    paths: () =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1)),
    read: (file) => readFileSync(join(path, file)),
    write: (file, content) => {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      writeFileSync(join(path, file), content)
    },
    remove: (file) => unlinkSync(join(path, file)),
    makeFolder: (folder) => mkdirSync(join(path, folder)),
    copied: () => {
      const to = mkdtempSync(join(tmpdir(), "pond-damage-"))
      cpSync(path, to, { recursive: true })
      rmSync(path, { recursive: true })
      return onDisk(to)
    },
    end: () => rmSync(path, { recursive: true, force: true }),
  }
}

let prefixes = 0

function reach(server: ObjectServer, prefix: string, kind: StoreKind) {
  if (kind === "gs") {
    const environment = { STORAGE_EMULATOR_HOST: `${server.url}${GOOGLE_ROOT}` }
    return { url: `gs://${TEST_BUCKET}/${prefix}`, environment }
  }
  const environment = { AWS_ACCESS_KEY_ID: TEST_KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: TEST_KEY.secretAccessKey }
  return { url: `${server.url.replace("http:", "s3+http:")}/${TEST_BUCKET}/${prefix}`, environment }
}

export function inBucket(server: ObjectServer, kind: StoreKind = "s3", prefix = `damage-${++prefixes}`): DamagedPlace {
  const { space } = server
  const { url, environment } = reach(server, prefix, kind)
  const paths = () =>
    space
      .keys(TEST_BUCKET)
      .filter((key) => key.startsWith(`${prefix}/`))
      .map((key) => key.slice(prefix.length + 1))
  const read = (path: string) => space.get(TEST_BUCKET, `${prefix}/${path}`)?.bytes ?? new Uint8Array()
  const remove = (path: string) => void space.remove(TEST_BUCKET, `${prefix}/${path}`)
  return {
    url,
    environment,
    open: (log = []) => open(url, environment, log),
    paths,
    read,
    write: (path, content) => void space.put(TEST_BUCKET, `${prefix}/${path}`, content),
    remove,
    copied: () => {
      const to = inBucket(server, kind)
      for (const path of paths()) to.write(path, read(path))
      for (const path of paths()) remove(path)
      return to
    },
    end: () => {
      for (const path of paths()) remove(path)
    },
  }
}

export interface Filled {
  readonly place: DamagedPlace
  /** The data file of each commit. */
  readonly data: readonly string[]
}

const FOLDER = "messages.lance/"

export async function fill(place: DamagedPlace): Promise<Filled> {
  const data: string[] = []
  const store = place.open()
  for (let commit = 0; commit < COMMITS; commit++) {
    await store.table(TABLE).insertAbsent(rowsOf(commit))
    const fresh = place.paths().find((path) => path.startsWith(`${FOLDER}data/`) && !data.includes(path))
    data.push(fresh as string)
  }
  store.close()
  return { place, data }
}

// --- Kinds of damage --------------------------------------------------------------------------------------------------

type Damage = (place: DamagedPlace, path: string) => void

export const flipAt =
  (share: number): Damage =>
  (place, path) => {
    const bytes = Uint8Array.from(place.read(path))
    const index = Math.floor(bytes.length * share)
    bytes[index] = (bytes[index] as number) ^ 4
    place.write(path, bytes)
  }
const cutTo =
  (length: (bytes: number) => number): Damage =>
  (place, path) => {
    const bytes = place.read(path)
    place.write(path, bytes.slice(0, length(bytes.length)))
  }
const remove: Damage = (place, path) => place.remove(path)
const zeros: Damage = (place, path) => place.write(path, new Uint8Array(place.read(path).length))

const WAYS: readonly (readonly [how: string, damage: Damage])[] = [
  ["missing", remove],
  ["empty", cutTo(() => 0)],
  ["cut", cutTo((bytes) => bytes >> 1)],
  ["short of a byte", cutTo((bytes) => bytes - 1)],
  ["longer", (place, path) => place.write(path, Buffer.concat([place.read(path), Buffer.from("x")]))],
  ["zeros", zeros],
  [
    "a folder",
    (place, path) => {
      place.remove(path)
      place.makeFolder?.(path)
    },
  ],
  ["flipped in the middle", flipAt(0.5)],
  ["flipped at its beginning", flipAt(0)],
]

export interface Kind {
  readonly what: string
  readonly damage: (filled: Filled) => void
  /** The commits whose rows are gone. */
  readonly lost: readonly number[]
}

const every = Array.from({ length: COMMITS }, (_, commit) => commit)
const below = (place: DamagedPlace, folder: string) => place.paths().filter((path) => path.startsWith(FOLDER + folder))
/** Newest first. */
const manifests = (place: DamagedPlace) =>
  below(place, "_versions/")
    .filter((path) => path.endsWith(".manifest"))
    .toSorted((one, other) => one.localeCompare(other))
const removeAll = (place: DamagedPlace, folder: string) => {
  for (const path of below(place, folder)) place.remove(path)
}

export const KINDS: readonly Kind[] = [
  ...["oldest", "newest"].flatMap((which) =>
    WAYS.map(([how, damage]): Kind => {
      const commit = which === "oldest" ? 0 : COMMITS - 1
      return {
        what: `the ${which} data file is ${how}`,
        damage: ({ place, data }) => damage(place, data[commit] as string),
        lost: [commit],
      }
    }),
  ),
  ...WAYS.map(
    ([how, damage]): Kind => ({
      what: `the newest manifest is ${how}`,
      damage: ({ place }) => damage(place, manifests(place)[0] as string),
      lost: [],
    }),
  ),
  {
    what: "an older manifest is flipped",
    damage: ({ place }) => flipAt(0.5)(place, manifests(place).at(-2) as string),
    lost: [],
  },
  { what: "all manifests are missing", damage: ({ place }) => removeAll(place, "_versions/"), lost: [] },
  {
    what: "all manifests are empty",
    damage: ({ place }) => {
      for (const path of manifests(place)) place.write(path, new Uint8Array())
    },
    lost: [],
  },
  {
    what: "two data files are zeros",
    damage: ({ place, data }) => {
      for (const path of data.slice(0, 2)) zeros(place, path)
    },
    lost: [0, 1],
  },
  { what: "the folder of the data is missing", damage: ({ place }) => removeAll(place, "data/"), lost: every },
  { what: "the table is missing", damage: ({ place }) => removeAll(place, ""), lost: every },
  {
    what: "the newest manifest and the oldest data file are missing",
    damage: ({ place, data }) => {
      place.remove(manifests(place)[0] as string)
      place.remove(data[0] as string)
    },
    lost: [0],
  },
  {
    what: "a data file in the middle is flipped at its end",
    damage: ({ place, data }) => flipAt(0.999)(place, data[1] as string),
    lost: [1],
  },
  {
    what: "two data files have changed places",
    damage: ({ place, data }) => {
      const [first, second] = data as [string, string]
      const [one, other] = [place.read(first), place.read(second)]
      place.write(first, other)
      place.write(second, one)
    },
    lost: [0, 1],
  },
]
