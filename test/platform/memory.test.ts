/** A process that holds much for good does not look through all of it at each small work. */
import { expect, test } from "bun:test"
import { join } from "node:path"

/** Holds some hundred megabytes of objects, and tells the processor time of what is asked between two works, in ms. */
const SCRIPT = `
  import { settleMemory } from ${JSON.stringify(join(import.meta.dir, "../../src/platform/memory.ts"))}
  const held = Array.from({ length: 4_000_000 }, (_, index) => ({ index, text: [index] }))
  const timed = (work) => {
    const from = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1000
  }
  const collected = () => timed(() => Bun.gc(true))
  collected()
  const whole = collected()
  settleMemory()
  const little = timed(() => { for (let turn = 0; turn < 20; turn++) settleMemory() })
  let made = Array.from({ length: 64 }, () => new Uint8Array(1024 * 1024).fill(1))
  const holding = process.memoryUsage.rss()
  made = undefined
  settleMemory()
  console.log(JSON.stringify({ whole, little, freed: (holding - process.memoryUsage.rss()) / 1024 / 1024, held: held.length }))
`

test("what was settled is not settled again until much has come, and then it is", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdout: "pipe", stderr: "inherit" })
  const told = JSON.parse(await child.stdout.text())
  expect(told.held).toBe(4_000_000)
  expect(told.whole).toBeGreaterThan(10)
  expect(told.little).toBeLessThan(told.whole)
  expect(told.freed).toBeGreaterThan(48)
})
