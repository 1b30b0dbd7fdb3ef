/** What the kernel is really asked, seen by `strace`: a flush reaches the disk in the order that a power cut may interrupt. */
import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const canTrace = Bun.which("strace") !== null && Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).success

/** A flush into a store that is there already, so that all it does is write. */
const SCRIPT = `
  const at = (path) => import(${JSON.stringify(join(import.meta.dir, "../.."))} + path)
  const { openSessions } = await at("/src/sessions/store.ts")
  const { openStore } = await at("/src/substrate/open-store.ts")
  const { parseLocation } = await at("/src/substrate/location.ts")
  const { systemClock } = await at("/src/platform/host/clock.ts")
  const { silentLog } = await at("/src/platform/host/log.ts")
  const { seededRandom } = await at("/src/platform/host/random.ts")
  const { said, session } = await at("/test/sessions/support.ts")
  const context = { log: silentLog, clock: systemClock, random: seededRandom(1) }
  const store = openStore(parseLocation(process.argv[1], { environment: {} }), context)
  const sessions = openSessions(store, { clock: systemClock, host: "test" })
  for (const id of ["first", "second"]) {
    if (id === "second") await Bun.file(process.argv[1] + "/.pond/mark").exists()
    const file = { ...said(id, 0, "x").parts[0], id: "f", type: "file", media_type: "image/png", data: { base64: btoa(id) } }
    const entry = said(id, 0, "hello")
    await sessions.write([{ session: session(id), entries: [{ ...entry, parts: [...entry.parts, file] }] }])
  }`

interface Synced {
  readonly path: string
  /** Lines of the trace: when it was asked for, and when it was done. */
  readonly from: number
  readonly until: number
}

interface Trace {
  readonly synced: readonly Synced[]
  /** Where a path was first opened for writing. */
  readonly written: ReadonlyMap<string, number>
  /** By the name that a file has in the end. */
  readonly named: readonly string[]
}

/** Of the second flush alone: the first made the tables. */
function traceOf(path: string, root: string): Trace {
  const lines = readFileSync(path, "utf8").split("\n")
  const begin = lines.findIndex((line) => line.includes(join(root, ".pond/mark")))
  const synced: Synced[] = []
  const written = new Map<string, number>()
  const named: string[] = []
  const pending = new Map<string, Omit<Synced, "until">>()
  for (const [at, line] of lines.entries()) {
    if (at <= begin) continue
    const [, pid = "", call = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const asked = /^fsync\(\d+<([^>]+)>/.exec(call)?.[1]
    if (asked !== undefined && call.endsWith("<unfinished ...>")) pending.set(pid, { path: asked, from: at })
    else if (asked !== undefined) synced.push({ path: asked, from: at, until: at })
    const waiting = pending.get(pid)
    if (waiting !== undefined && call.startsWith("<... fsync resumed>")) {
      synced.push({ ...waiting, until: at })
      pending.delete(pid)
    }
    const opened = /^openat\([^"]*"([^"]+)", [^)]*O_CREAT/.exec(call)?.[1]
    if (opened !== undefined && !written.has(opened)) written.set(opened, at)
    const target = /^(?:rename|link)(?:at2?)?\(.*, "([^"]+)"[^"]*$/.exec(call)?.[1]
    if (target !== undefined) named.push(target)
  }
  return { synced, written, named }
}

test.if(canTrace)(
  "a flush syncs each table's content, then its manifest, then its folders, and then begins the next table",
  () => {
    const root = mkdtempSync(join(tmpdir(), "pond-fsync-"))
    try {
      const output = join(root, "trace")
      const store = join(root, "store")
      // Not every machine has each of them: what is marked may be missing.
      const calls =
        "trace=fsync,openat,?access,?faccessat,?stat,?statx,?newfstatat,?link,?linkat,?rename,?renameat,?renameat2"
      const traced = ["strace", "-f", "-y", "-s", "4096", "-e", calls, "-o", output]
      const ran = Bun.spawnSync([...traced, process.execPath, "-e", SCRIPT, store], { stderr: "pipe" })
      expect(ran.stderr.toString()).toBe("")
      const { synced, written, named } = traceOf(output, store)
      let before = 0
      for (const table of ["blobs", "parts", "messages", "sessions"]) {
        const folder = join(store, `${table}.lance`)
        const note = written.get(join(store, `.pond/${table}.durable`)) ?? 0
        const own = synced.filter(({ path }) => path === folder || path.startsWith(`${folder}/`))
        const isManifest = ({ path }: Synced) => path.endsWith(".manifest")
        const isFile = ({ path }: Synced) => /\.(lance|blob|txn)$/.test(path) && path !== folder
        const [manifests, contents] = [own.filter(isManifest), own.filter(isFile)]
        const folders = own.filter((each) => !isManifest(each) && !isFile(each))
        expect(contents.some(({ path }) => path.startsWith(join(folder, "data/")))).toBe(true)
        expect(manifests.length).toBe(1)
        expect(folders.map(({ path }) => path)).toEqual(expect.arrayContaining([folder, join(folder, "_versions")]))
        // Every file that the flush has named is synced by that name.
        const names = named.filter((path) => path.startsWith(`${folder}/`) && !path.endsWith("hint.json"))
        expect(names.length).toBeGreaterThan(1)
        expect(own.map(({ path }) => path)).toEqual(expect.arrayContaining(names))
        // One after the other, and the note of it last.
        const first = Math.min(...own.map(({ from }) => from))
        expect(first).toBeGreaterThan(before)
        expect(Math.max(...contents.map(({ until }) => until))).toBeLessThan(
          Math.min(...manifests.map(({ from }) => from)),
        )
        expect(Math.max(...manifests.map(({ until }) => until))).toBeLessThan(
          Math.min(...folders.map(({ from }) => from)),
        )
        expect(Math.max(...folders.map(({ until }) => until))).toBeLessThan(note)
        before = note
      }
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  },
  60_000,
)
