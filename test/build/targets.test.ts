import { expect, test } from "bun:test"
import { join } from "node:path"
import { selfTestModel } from "../../build/corpus/tiny-model.ts"
import { BuildFailure, hostTarget, TARGET_NAMES, targetNamed } from "../../build/release/targets.ts"
import { SELF_TEST_MODEL } from "../../src/embeddings/self-test.ts"

test("each target has the runtime of its name", () => {
  expect(TARGET_NAMES.map((name) => targetNamed(name).runtime)).toEqual(
    TARGET_NAMES.map((name) => `bun-${name}` as Bun.Build.CompileTarget),
  )
  expect(targetNamed("linux-arm64-musl")).toMatchObject({ os: "linux", cpu: "arm64", libc: "musl" })
  expect(targetNamed("linux-x64-baseline")).toMatchObject({ os: "linux", cpu: "x64", libc: "glibc" })
  expect(TARGET_NAMES).toContain(hostTarget().name)
})

test("an Intel Mac is refused, and told why", () => {
  expect(() => targetNamed("darwin-x64")).toThrow(BuildFailure)
  expect(() => targetNamed("darwin-x64")).toThrow("upstream LanceDB stopped shipping its library for Intel Macs")
})

test("a build for a target that is not there ends with 2 and names those that are", () => {
  const ended = Bun.spawnSync([process.execPath, join(import.meta.dir, "../../build/binary.ts"), "--target", "vax"])
  expect(ended.exitCode).toBe(2)
  expect(ended.stderr.toString()).toContain(`build: No target is called vax. There are: ${TARGET_NAMES.join(", ")}.`)
})

test("the model that pond carries is the one that the script makes", () => {
  expect(SELF_TEST_MODEL).toBe(Buffer.from(selfTestModel()).toString("base64"))
})
