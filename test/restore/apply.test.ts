import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { OutputFile } from "../../src/adapters/adapter.ts"
import { type Files, realFiles } from "../../src/platform/files/files.ts"
import { applyRestore } from "../../src/restore/apply.ts"
import { mergeFiles } from "../../src/restore/output-files.ts"
import { reroot } from "../../src/restore/reroot.ts"

const MAIN: OutputFile = { form: "log", relativePath: "projects/p/s.jsonl", lines: ['{"a":1}', '{"b":2}'] }
const SIDE: OutputFile = { form: "text", relativePath: "projects/p/s/tool-results/r.txt", text: "long output" }
const noDatabase = () => Promise.reject(new Error("no database here"))

function request(root: string, files: Files = realFiles, isForced = false) {
  return { files, root, output: [MAIN, SIDE], isForced, stamp: "x", writeDatabase: noDatabase }
}

function tempRoot(): { readonly root: string } & Disposable {
  const root = mkdtempSync(join(tmpdir(), "pond-restore-"))
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

class Died extends Error {}

/** A disk whose machine dies before one of its steps. What was not synced by then comes back cut in half. */
function mortalFiles(diesAt: number): Files & { readonly steps: () => number; restart(): Promise<void> } {
  let step = 0
  const unsynced = new Map<string, Uint8Array>()
  const dying =
    <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (++step === diesAt) throw new Died()
      if (step > diesAt) throw new Died()
      return await act(...args)
    }
  return {
    ...realFiles,
    makeDirectory: dying(realFiles.makeDirectory),
    write: dying(async (path, bytes) => {
      await realFiles.write(path, bytes)
      unsynced.set(path, bytes)
    }),
    append: dying(async (path, bytes) => {
      await realFiles.append(path, bytes)
      unsynced.set(path, await realFiles.read(path))
    }),
    sync: dying(async (path) => {
      await realFiles.sync(path)
      unsynced.delete(path)
    }),
    rename: dying(async (from, to) => {
      await realFiles.rename(from, to)
      const bytes = unsynced.get(from)
      if (bytes !== undefined) unsynced.set(to, bytes)
      unsynced.delete(from)
    }),
    remove: dying(realFiles.remove),
    steps: () => step,
    restart: async () => {
      for (const [path, bytes] of unsynced)
        if (realFiles.exists(path)) await realFiles.write(path, bytes.subarray(0, bytes.length / 2))
    },
  }
}

const WHOLE = '{"a":1}\n{"b":2}\n'
/** Two directories, two files and their syncs, two moves with theirs, and the draft that goes. */
const STEPS = 13

function textOf(path: string): string | undefined {
  return realFiles.exists(path) ? readFileSync(path, "utf8") : undefined
}

for (let diesAt = 1; diesAt <= STEPS + 1; diesAt++) {
  test(`the session is absent or whole when the machine dies before step ${diesAt}`, async () => {
    using target = tempRoot()
    const files = mortalFiles(diesAt)
    const died = await applyRestore(request(target.root, files)).then(
      () => false,
      (error) => error instanceof Died,
    )
    await files.restart()
    expect({ diesAt, died }).toEqual({ diesAt, died: diesAt <= STEPS })
    const main = textOf(join(target.root, MAIN.relativePath))
    expect([undefined, WHOLE]).toContain(main)
    if (main !== undefined) expect(textOf(join(target.root, SIDE.relativePath))).toBe("long output")
    await applyRestore(request(target.root, realFiles, true))
    expect(textOf(join(target.root, MAIN.relativePath))).toBe(WHOLE)
  })
}

/** Written in pieces, of which there are two more than of a short one. */
const LONG: OutputFile = {
  form: "log",
  relativePath: MAIN.relativePath,
  lines: ["a", "b", "c"].map((sign) => sign.repeat(1_500_000)),
}
const LONG_STEPS = STEPS + 2

for (let diesAt = STEPS - 10; diesAt <= LONG_STEPS + 1; diesAt++) {
  test(`a long session is absent or whole when the machine dies before step ${diesAt}`, async () => {
    using target = tempRoot()
    const files = mortalFiles(diesAt)
    const died = await applyRestore({ ...request(target.root, files), output: [LONG, SIDE] }).then(
      () => false,
      (error) => error instanceof Died,
    )
    await files.restart()
    expect({ diesAt, died }).toEqual({ diesAt, died: diesAt <= LONG_STEPS })
    const main = textOf(join(target.root, MAIN.relativePath))
    if (main !== undefined) expect(main.length).toBe(4_500_003)
  })
}

/** Where the old files are there, two of them are moved aside besides. */
const FORCED_STEPS = STEPS + 2

for (let diesAt = 1; diesAt <= FORCED_STEPS + 1; diesAt++) {
  test(`with force the session is the old one, absent or the new one when the machine dies before step ${diesAt}`, async () => {
    using target = tempRoot()
    const [main, side] = [MAIN, SIDE].map(({ relativePath }) => join(target.root, relativePath)) as [string, string]
    mkdirSync(join(side, ".."), { recursive: true })
    writeFileSync(main, "old main")
    writeFileSync(side, "old side")
    const files = mortalFiles(diesAt)
    const died = await applyRestore(request(target.root, files, true)).then(
      () => false,
      (error) => error instanceof Died,
    )
    await files.restart()
    expect({ diesAt, died }).toEqual({ diesAt, died: diesAt <= FORCED_STEPS })
    expect([undefined, "old main", WHOLE]).toContain(textOf(main))
    expect([undefined, "old side", "long output"]).toContain(textOf(side))
    // Nothing old is lost: it is where it was, or beside it.
    expect([textOf(main), textOf(`${main}.pond-backup-x`)]).toContain("old main")
    expect([textOf(side), textOf(`${side}.pond-backup-x`)]).toContain("old side")
    if (textOf(main) === WHOLE) expect(textOf(side)).toBe("long output")
  })
}

test("what is there is never overwritten, and nothing else is written then", async () => {
  using target = tempRoot()
  const path = join(target.root, SIDE.relativePath)
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, "mine")
  expect(applyRestore(request(target.root))).rejects.toMatchObject({
    code: "would_overwrite",
    details: { paths: [path] },
  })
  expect(readFileSync(path, "utf8")).toBe("mine")
  expect(readdirSync(target.root)).toEqual(["projects"])
  expect(textOf(join(target.root, MAIN.relativePath))).toBeUndefined()
})

test("with force the old file is kept beside the new one", async () => {
  using target = tempRoot()
  const path = join(target.root, MAIN.relativePath)
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, "old")
  const { backups } = await applyRestore(request(target.root, realFiles, true))
  expect(backups).toEqual([`${path}.pond-backup-x`])
  expect(readFileSync(`${path}.pond-backup-x`, "utf8")).toBe("old")
  expect(readFileSync(path, "utf8")).toBe(WHOLE)
})

test("no draft is left behind", async () => {
  using target = tempRoot()
  await applyRestore(request(target.root))
  expect(readdirSync(target.root)).toEqual(["projects"])
})

test.each(["../outside", "/etc/passwd", "a/../../b", "..\\windows", "", "a\0b"])(
  "a place that leads out of its root is refused: %j",
  async (hostile) => {
    using target = tempRoot()
    const output: OutputFile[] = [{ form: "text", relativePath: hostile, text: "x" }]
    expect(applyRestore({ ...request(target.root), output })).rejects.toMatchObject({ code: "validation_failed" })
  },
)

test("lines are added to a file that other sessions share, once, after what is there", async () => {
  using target = tempRoot()
  const shared = (...lines: string[]): OutputFile => ({
    form: "log",
    relativePath: "index.jsonl",
    lines,
    isShared: true,
  })
  writeFileSync(join(target.root, "index.jsonl"), '{"other":1}')
  const output = mergeFiles([shared('{"mine":1}'), shared('{"mine":1}', '{"mine":2}')])
  await applyRestore({ ...request(target.root), output })
  await applyRestore({ ...request(target.root), output })
  expect(readFileSync(join(target.root, "index.jsonl"), "utf8")).toBe('{"other":1}\n{"mine":1}\n{"mine":2}\n')
})

test("a move rewrites the strings that are paths, and no text that mentions one", () => {
  const lines = [
    JSON.stringify({
      cwd: "/old/home",
      file: "/old/home/a.ts",
      near: "/old/homestead",
      said: "look into /old/home please",
    }),
    JSON.stringify({ untouched: 12 }),
  ]
  const { files, rewrittenPaths } = reroot([{ form: "log", relativePath: "k-old/s.jsonl", lines }], {
    from: "/old/home",
    to: "/new",
    relativePath: (path) => path.replace("k-old", "k-new"),
  })
  expect(rewrittenPaths).toBe(2)
  expect(files).toEqual([
    {
      form: "log",
      relativePath: "k-new/s.jsonl",
      lines: [
        JSON.stringify({ cwd: "/new", file: "/new/a.ts", near: "/old/homestead", said: "look into /old/home please" }),
        lines[1] ?? "",
      ],
    },
  ])
})

test.each<[string, string, string, string]>([
  ["/old/日 home", "file:///old/%E6%97%A5%20home", "file:///new%20home", "/new home"],
  ["/old/日 home", "file:///old/%E6%97%A5%20home/a%20b.ts", "file:///new%20home/a%20b.ts", "/new home"],
  ["/old/日 home", "file:///old/%E6%97%A5%20homestead", "file:///old/%E6%97%A5%20homestead", "/new home"],
  ["/old/日 home", "file:///old/%E6%97", "file:///old/%E6%97", "/new home"],
  ["C:\\old", "file:///C:/old/a.ts", "file:///new%20home/a.ts", "/new home"],
  ["/old", "file:///old/a.ts", "file:///D:/new/a.ts", "D:\\new"],
])("in a move from %s the address %s becomes %s", (from, address, moved, to) => {
  const { files } = reroot([{ form: "log", relativePath: "s.jsonl", lines: [JSON.stringify({ cwd: address })] }], {
    ...{ from, to, relativePath: undefined },
  })
  expect(files).toMatchObject([{ lines: [JSON.stringify({ cwd: moved })] }])
})

test("in a move every number keeps its value, a line without a path its bytes, and a path of Windows its strokes", () => {
  const lines = [
    '{"cwd":"C:\\\\old\\\\src\\\\a.ts","cost":12345678901234567890123}',
    '{ "said" : "look into C:\\\\old please", "cost": 1.50 }',
  ]
  const move = { from: "C:\\old", to: "D:\\new", relativePath: undefined }
  const { files, rewrittenPaths } = reroot([{ form: "log", relativePath: "s.jsonl", lines }], move)
  expect(rewrittenPaths).toBe(1)
  expect(files).toMatchObject([
    { lines: ['{"cwd":"D:\\\\new\\\\src\\\\a.ts","cost":12345678901234567890123}', lines[1]] },
  ])
})

test("a log that its client compresses is written so", async () => {
  using target = tempRoot()
  await applyRestore({
    ...request(target.root),
    output: [{ form: "log", relativePath: "a.jsonl.zst", lines: ["1", "2"] }],
  })
  const written = Bun.zstdDecompressSync(readFileSync(join(target.root, "a.jsonl.zst")))
  expect(Buffer.from(written).toString()).toBe("1\n2\n")
})

test("what was added to a file that others share is on the disk before the restore is over", async () => {
  using target = tempRoot()
  const { files, ...others } = request(target.root)
  const synced: string[] = []
  const sync = (path: string) => {
    synced.push(path)
    return files.sync(path)
  }
  const output: OutputFile[] = [{ form: "log", relativePath: "index.jsonl", lines: ["{}"], isShared: true }]
  await applyRestore({ ...others, files: { ...files, sync }, output })
  expect(synced).toContain(join(target.root, "index.jsonl"))
})

test("a file whose name says what is in it is written once, and stays for whoever else has it", async () => {
  using target = tempRoot()
  const named: OutputFile = { form: "bytes", relativePath: "blobs/ab", bytes: Uint8Array.of(1), isShared: true }
  const other: OutputFile = { form: "log", relativePath: "projects/p/t.jsonl", lines: ["{}"] }
  const first = await applyRestore({ ...request(target.root), output: [MAIN, named] })
  const second = await applyRestore({ ...request(target.root), output: [other, { ...named, bytes: Uint8Array.of(2) }] })
  expect([first.backups, second.backups]).toEqual([[], []])
  expect(readFileSync(join(target.root, "blobs/ab"))).toEqual(Buffer.of(1))
  expect(readdirSync(target.root).toSorted()).toEqual(["blobs", "projects"])
})

test("an entry goes into the list of all sessions, in the place of the one of its name, and no other is touched", async () => {
  using target = tempRoot()
  const entry = (text: string): OutputFile => ({ form: "document", relativePath: "all.json", text, entryOf: "id" })
  const list = () => JSON.parse(readFileSync(join(target.root, "all.json"), "utf8")) as unknown
  await applyRestore({ ...request(target.root), output: [MAIN, entry('{"id":"a","n":1}')] })
  expect(list()).toEqual([{ id: "a", n: 1 }])
  writeFileSync(join(target.root, "all.json"), '[{"id":"b","own":true},{"id":"a","n":1}]')
  await applyRestore({ ...request(target.root, realFiles, true), output: [MAIN, entry('{"id":"a","n":2}')] })
  expect(list()).toEqual([
    { id: "b", own: true },
    { id: "a", n: 2 },
  ])
  writeFileSync(join(target.root, "all.json"), "no list")
  await applyRestore({ ...request(target.root, realFiles, true), output: [MAIN, entry('{"id":"a","n":3}')] })
  expect(readFileSync(join(target.root, "all.json"), "utf8")).toBe("no list")
})
