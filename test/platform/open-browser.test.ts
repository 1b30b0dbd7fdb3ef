/** A browser is started with a file that only this user can read, and never with an address that others could see. */
import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openBrowser } from "../../src/platform/process/open-browser.ts"

const folder = mkdtempSync(join(tmpdir(), "pond-open-"))
afterAll(() => rmSync(folder, { recursive: true }))

test("the first time, and again over what an earlier one left", () => {
  const environment = { BROWSER: "true", PATH: process.env["PATH"] ?? "" }
  const path = join(folder, "open.html")
  for (const token of ["first", "second"]) {
    expect(openBrowser(`http://127.0.0.1:1/?a="b"&token=${token}`, folder, environment)).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, "utf8")).toContain(`url=http://127.0.0.1:1/?a=&quot;b&quot;&amp;token=${token}"`)
  }
  expect(openBrowser("http://127.0.0.1:1", folder, { PATH: "" })).toBe(false)
})
