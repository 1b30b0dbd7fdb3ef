import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describeOrigin, readSettings } from "../../src/platform/config/config.ts"
import { lineOfFault, lineOfKey } from "../../src/platform/config/toml.ts"
import { placePath } from "../../src/platform/host/paths.ts"
import { editDistance, nearest } from "../../src/platform/nearest.ts"
import { temporaryHome } from "../support/pond-process.ts"

test("a value comes from the flag, else the variable, else the file, else the default, and says so", () => {
  using home = temporaryHome()
  const path = join(home.path, ".config/pond/config.toml")
  const origin = (environment: Record<string, string>, flags: Record<string, string>) => {
    const { values, effective } = readSettings({ ...home.env, ...environment }, flags)
    const store = effective.find(({ key }) => key === "store")
    return [values.store, store === undefined ? "" : describeOrigin(store.origin)]
  }
  expect(origin({}, {})).toEqual([`${home.path}/.local/share/pond/store`, "default"])
  expect(origin({ XDG_DATA_HOME: "/data" }, {})).toEqual(["/data/pond/store", "default"])
  writeFileSync(path, '\n# mine\nstore = "s3://bucket/a"\n')
  expect(origin({}, {})).toEqual(["s3://bucket/a", `${path}:3`])
  expect(origin({ POND_STORE: "" }, {})).toEqual(["s3://bucket/a", `${path}:3`])
  expect(origin({ POND_STORE: "/b" }, {})).toEqual(["/b", "POND_STORE"])
  expect(origin({ POND_STORE: "/b" }, { store: "/c" })).toEqual(["/c", "--store"])
})

test("--config wins over POND_CONFIG, and either over the usual place", () => {
  using home = temporaryHome()
  const file = (name: string) => {
    mkdirSync(join(home.path, name), { recursive: true })
    const path = join(home.path, name, "config.toml")
    writeFileSync(path, `namespace = "${name}"\n`)
    return path
  }
  file(".config/pond")
  const env = { ...home.env, POND_CONFIG: file("variable") }
  expect(readSettings(env, { config: file("flag") }).values.namespace).toBe("flag")
  expect(readSettings(env, {}).values.namespace).toBe("variable")
  expect(readSettings(home.env, {}).values.namespace).toBe(".config/pond")
})

test("without HOME, what is named outright needs no home", () => {
  using home = temporaryHome()
  const path = join(home.path, "config.toml")
  writeFileSync(path, "")
  expect(readSettings({ POND_CONFIG: path, POND_STORE: "/x" }, {}).values).toMatchObject({
    store: "/x",
    namespace: "local",
  })
  expect(() => readSettings({ POND_CONFIG: path }, {})).toThrow("HOME is not set")
})

test("places follow the XDG variables, of which an empty or a relative one does not count", () => {
  expect(placePath({ HOME: "/h" }, "state")).toBe("/h/.local/state/pond")
  expect(placePath({ HOME: "/h", XDG_CACHE_HOME: "/c" }, "cache")).toBe("/c/pond")
  expect(placePath({ HOME: "/h", XDG_CONFIG_HOME: "" }, "config")).toBe("/h/.config/pond")
  expect(placePath({ HOME: "/h", XDG_DATA_HOME: "data" }, "data")).toBe("/h/.local/share/pond")
})

test("a fault in the file is on the line where it is", () => {
  const rows: readonly (readonly [text: string, line: number])[] = [
    ["a = 1\nb = = 2\nc = 3", 2],
    ["a = [\n  1,\n  2\n]\nb = tru", 5],
    ["[x]\ny = 1\n[x]\nz = 2", 3],
    ['a = """\nlong\ntext"""\nb = 1 2', 4],
    ['a = "open', 1],
  ]
  expect(rows.map(([text]) => lineOfFault(text))).toEqual(rows.map(([, line]) => line))
})

test("a key is on the line that gives it its value", () => {
  const text = 'a = 1\n\n[b]\nc = 1\n[d."s3://x/y"]\nkey = [\n 1,\n]\n'
  expect(lineOfKey(text, ["b", "c"])).toBe(4)
  expect(lineOfKey(text, ["d", "s3://x/y", "key"])).toBe(8)
})

test("a swap of neighbours is one mistake, and a third of a word may be wrong", () => {
  expect(editDistance("stroe", "store")).toBe(1)
  expect(editDistance("kitten", "sitting")).toBe(3)
  expect(editDistance("", "abc")).toBe(3)
  expect(nearest("serach", ["status", "search", "serve"])).toBe("search")
  expect(nearest("stat", ["stats", "status"])).toBe("stats")
  expect(nearest("xyz", ["store", "config"])).toBeUndefined()
})
