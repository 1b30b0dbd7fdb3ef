/** When memory is given back, measured in separate processes: a heap of the test runner would hide it. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { between } from "../../src/platform/memory.ts"

const MEMORY = JSON.stringify(join(import.meta.dir, "../../src/platform/memory.ts"))

async function resultOf(script: string): Promise<Record<string, number>> {
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" })
  return JSON.parse(await child.stdout.text())
}

const TIMED = `
  const timed = (work) => {
    const from = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1000
  }
  const rssMib = () => process.memoryUsage.rss() / 1024 / 1024
`

test("a process that holds much for good is not collected between two passes until much has come", async () => {
  const { held, whole, little, freed } = await resultOf(`
    import { between } from ${MEMORY}
    ${TIMED}
    const held = Array.from({ length: 4_000_000 }, (_, index) => ({ index, text: [index] }))
    const collected = () => timed(() => Bun.gc(true))
    collected()
    const whole = collected()
    between("passes")
    const little = timed(() => { for (let turn = 0; turn < 20; turn++) between("passes") })
    let made = Array.from({ length: 64 }, () => new Uint8Array(1024 * 1024).fill(1))
    const holding = rssMib()
    made = undefined
    between("passes")
    console.log(JSON.stringify({ whole, little, freed: holding - rssMib(), held: held.length }))
  `)
  expect(held).toBe(4_000_000)
  expect(whole).toBeGreaterThan(10)
  expect(little).toBeLessThan(whole as number)
  expect(freed).toBeGreaterThan(48)
})

test("a ledger collects once as much was reported as its kind allows, and not before", async () => {
  const { early, late } = await resultOf(`
    import { openLedger } from ${MEMORY}
    ${TIMED}
    const memory = openLedger("columns")
    let made = Array.from({ length: 128 }, () => new Uint8Array(1024 * 1024).fill(1))
    const holding = rssMib()
    made = undefined
    memory.made(20_000_000)
    const early = holding - rssMib()
    memory.made(20_000_000)
    console.log(JSON.stringify({ early, late: holding - rssMib() }))
  `)
  expect(early).toBeLessThan(48)
  expect(late).toBeGreaterThan(96)
})

test("native memory is given back without a word, whatever the C library is", () => {
  expect(between("commits")).toBeUndefined()
})
