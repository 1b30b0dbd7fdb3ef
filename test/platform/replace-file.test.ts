/** A file of another program is changed whole or not at all. */
import { expect, test } from "bun:test"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { bytesOfFile, putBack, replaceFile } from "../../src/platform/files/replace-file.ts"
import { temporaryHome } from "../support/pond-process.ts"

function failureOf(run: () => unknown): PondError | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return error instanceof PondError ? error : undefined
  }
}

test("what it held is kept beside it with the same rights, and comes back", () => {
  using home = temporaryHome()
  const path = join(home.path, "settings.json")
  writeFileSync(path, "old")
  chmodSync(path, 0o640)
  const backup = replaceFile({ path, from: bytesOfFile(path), text: "new" }) ?? ""
  expect(readFileSync(path, "utf8")).toBe("new")
  expect(readFileSync(backup, "utf8")).toBe("old")
  expect([path, backup].map((each) => statSync(each).mode & 0o777)).toEqual([0o640, 0o640])
  replaceFile({ path, from: bytesOfFile(path), text: "newer", isOwnWork: true })
  expect(putBack(path, Buffer.from("newer"))).toBe(true)
  expect(readFileSync(path, "utf8")).toBe("old")
  expect(readdirSync(home.path).filter((name) => name.startsWith("settings"))).toEqual(["settings.json"])
})

test("a link stays a link, and the file behind it changes", () => {
  using home = temporaryHome()
  mkdirSync(join(home.path, "dotfiles"))
  const [path, target] = [join(home.path, "config.toml"), join(home.path, "dotfiles/config.toml")]
  writeFileSync(target, "old")
  symlinkSync(target, path)
  replaceFile({ path, from: bytesOfFile(path), text: "new" })
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
  expect(readFileSync(target, "utf8")).toBe("new")
})

test("a file that was changed since it was read stays as it is", () => {
  using home = temporaryHome()
  const path = join(home.path, "settings.json")
  writeFileSync(path, "mine")
  const error = failureOf(() => replaceFile({ path, from: Buffer.from("yours"), text: "new" }))
  expect(error?.code).toBe("conflict")
  expect(readFileSync(path, "utf8")).toBe("mine")
  expect(readdirSync(home.path).filter((name) => name.startsWith("settings"))).toEqual(["settings.json"])
})

test("a file that cannot be written is named, and what to do", () => {
  using home = temporaryHome()
  writeFileSync(join(home.path, "file"), "")
  const path = join(home.path, "file/settings.json")
  const error = failureOf(() => replaceFile({ path, from: undefined, text: "new" }))
  expect(error?.code).toBe("storage_unavailable")
  expect(error?.message).toContain(path)
})
