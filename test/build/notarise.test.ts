/** The executable for macOS is signed and notarised by programs that only a Mac has: here stand-ins write down what they are asked. */
import { expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { notarise } from "../../build/release/notarise.ts"
import { targetNamed } from "../../build/release/targets.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import { temporaryHome } from "../support/pond-process.ts"

test("with an identity it is signed for the hardened runtime, checked, and sent to Apple; the archive for that is removed", () => {
  using home = temporaryHome()
  const executable = join(home.path, "pond")
  writeFileSync(executable, "")
  const programs = fakePrograms(home.path, { codesign: "exit 0", ditto: 'touch "$4"', xcrun: "exit 0" })
  const variables = { PATH: programs.path, APPLE_SIGNING_IDENTITY: "Developer ID", APPLE_NOTARY_PROFILE: "pond" }
  const mac = targetNamed("darwin-arm64")
  expect(notarise(mac, executable, variables)).toBe("signed and notarised")
  const calls = programs.calls()
  expect(calls.map((call) => call.split(" ")[0])).toEqual(["codesign", "codesign", "ditto", "xcrun"])
  expect(calls[0]).toMatch(/--options runtime --entitlements (\S+) --sign Developer ID \S+\/pond$/)
  const [, entitlements = ""] = /--entitlements (\S+)/.exec(calls[0] ?? "") ?? []
  expect(readFileSync(entitlements, "utf8")).toContain("com.apple.security.cs.disable-library-validation")
  expect(calls[3]).toContain(`notarytool submit ${executable}.zip --keychain-profile pond --wait`)
  expect(existsSync(`${executable}.zip`)).toBe(false)
})

test("without one it says so and runs nothing, and what Apple refuses fails the build", () => {
  using home = temporaryHome()
  const programs = fakePrograms(home.path, { codesign: "echo no such identity >&2; exit 1" })
  const mac = targetNamed("darwin-arm64")
  expect(notarise(mac, "pond", { PATH: programs.path })).toContain("not notarised")
  expect(notarise(targetNamed("linux-x64"), "pond", { APPLE_SIGNING_IDENTITY: "x" })).toBe("not for macOS")
  expect(programs.calls()).toEqual([])
  expect(() => notarise(mac, "pond", { PATH: programs.path, APPLE_SIGNING_IDENTITY: "x" })).toThrow("no such identity")
})
