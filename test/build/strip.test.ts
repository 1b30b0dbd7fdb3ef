import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nativesOf } from "../../build/release/natives.ts"
import { stripLibrary } from "../../build/release/strip.ts"
import { hostTarget } from "../../build/release/targets.ts"

test("a library without its symbols is smaller, loads, and is the same each time", async () => {
  const [lance] = await nativesOf(hostTarget())
  const library = readFileSync(lance?.addon ?? "")
  const stripped = stripLibrary(library)
  expect(stripLibrary(library).equals(stripped)).toBe(true)
  if (hostTarget().os === "linux") expect(stripped.length).toBeLessThan(library.length * 0.9)
  const directory = mkdtempSync(join(tmpdir(), "pond-strip-"))
  try {
    const path = join(directory, "lance.node")
    writeFileSync(path, stripped)
    const code = `const m = { exports: {} }; process.dlopen(m, ${JSON.stringify(path)}); console.log(typeof m.exports.Connection)`
    const { stdout } = Bun.spawnSync([process.execPath, "-e", code])
    expect(stdout.toString().trim()).toBe("function")
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test("a library that was cut short, or is of another kind of machine, fails the build", async () => {
  const bytes = Buffer.alloc(64)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 1, 1])
  expect(() => stripLibrary(bytes)).toThrow("is not a 64-bit little-endian ELF file")
  bytes[4] = 2
  expect(() => stripLibrary(bytes)).toThrow("is cut short")
  const machO = Buffer.from([0xcf, 0xfa, 0xed, 0xfe, 1, 2, 3])
  expect(stripLibrary(machO)).toBe(machO)
})
