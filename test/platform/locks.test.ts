import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../../src/model/errors.ts"
import { type LockHolder, takeLock } from "../../src/platform/files/machine-lock.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { temporaryHome } from "../support/pond-process.ts"

const never = new AbortController().signal

/** Another process that holds the lock. */
async function holder(path: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "holds-lock.ts"), path], {
    stdin: "pipe",
    stdout: "pipe",
  })
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toBe("held\n")
  return child
}

async function codeOf(taking: Promise<unknown>): Promise<unknown> {
  return await taking.then(
    () => "taken",
    (error: unknown) => (error instanceof PondError ? error.code : error),
  )
}

test("a lock that another process holds is a conflict for who may not wait, and names the process", async () => {
  using home = temporaryHome()
  const path = join(home.path, "state/sync.lock")
  const other = await holder(path)
  const refused = takeLock(path, { clock: systemClock, signal: never, mayWait: false })
  await expect(refused).rejects.toThrow(
    `Another pond (process ${other.pid}) is using the store. Try again when it is done.`,
  )
  expect(await codeOf(refused)).toBe("conflict")
  other.kill()
  await other.exited
})

test.each(["SIGKILL", "SIGTERM", "the end of its work"])(
  "who waits gets the lock after its holder ended by %s",
  async (end) => {
    using home = temporaryHome()
    const path = join(home.path, "sync.lock")
    const other = await holder(path)
    const waited: (LockHolder | undefined)[] = []
    const onWait = (seen: LockHolder | undefined) => {
      waited.push(seen)
      if (end.startsWith("SIG")) other.kill(end as NodeJS.Signals)
      else void other.stdin.end()
    }
    const lock = await takeLock(path, { clock: systemClock, signal: never, mayWait: true, onWait })
    expect(waited.map((seen) => seen?.pid)).toEqual([other.pid])
    expect(await codeOf(takeLock(path, { clock: systemClock, signal: never, mayWait: false }))).toBe("conflict")
    lock.release()
    lock.release()
    expect(await codeOf(takeLock(path, { clock: systemClock, signal: never, mayWait: false }))).toBe("taken")
  },
)

test("waiting ends when it is interrupted", async () => {
  using home = temporaryHome()
  const path = join(home.path, "sync.lock")
  using _lock = await takeLock(path, { clock: systemClock, signal: never, mayWait: true })
  const interrupted = new AbortController()
  const waiting = takeLock(path, {
    clock: systemClock,
    signal: interrupted.signal,
    mayWait: true,
    onWait: () => interrupted.abort(),
  })
  expect(await codeOf(waiting)).toBe("interrupted")
})

test("a lock that cannot be made is storage_unavailable", async () => {
  using home = temporaryHome()
  writeFileSync(join(home.path, "file"), "")
  const take = (path: string) =>
    codeOf(takeLock(join(home.path, path), { clock: systemClock, signal: never, mayWait: true }))
  expect([await take("file/sync.lock"), await take(".config")]).toEqual(["storage_unavailable", "storage_unavailable"])
})
