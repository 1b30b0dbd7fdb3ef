/** A server on a Unix socket: whose it is, and what it does not replace. */
import { expect, test } from "bun:test"
import { lstatSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createHttp } from "../../src/http/app.ts"
import { listenOnSocket } from "../../src/http/socket-listener.ts"
import { VERSION } from "../../src/platform/host/version.ts"
import { memoryPond } from "../operations/support.ts"

test("the socket is its owner's alone, a dead one is in nobody's way, and a live one is not taken", async () => {
  const box = memoryPond()
  const handler = createHttp({ pond: box.pond, allowedHosts: [] })
  const path = join(box.place.path, "pond.sock")
  const first = await listenOnSocket(handler, path)
  expect((statSync(path).mode & 0o777).toString(8)).toBe("600")
  expect(await (await fetch("http://localhost/healthz", { unix: path })).json()).toEqual({
    ok: true,
    version: VERSION,
    protocol_version: 1,
  })
  expect(listenOnSocket(handler, path)).rejects.toMatchObject({ code: "conflict" })
  await first.stop()
  // One whose server died: closing does not remove what is linked elsewhere.
  const dead = Bun.listen({ unix: `${path}.dead`, socket: { data: () => undefined } })
  renameSync(`${path}.dead`, path)
  dead.stop(true)
  const second = await listenOnSocket(handler, path)
  expect((await fetch("http://localhost/healthz", { unix: path })).status).toBe(200)
  await second.stop()
  box[Symbol.dispose]()
})

test("--socket replaces no file, no link and no folder, and no socket that somebody listens on", async () => {
  using box = memoryPond()
  const handler = createHttp({ pond: box.pond, allowedHosts: [] })
  const at = (name: string) => join(box.place.path, name)
  writeFileSync(at("thesis.txt"), "thesis")
  symlinkSync(at("thesis.txt"), at("link"))
  symlinkSync(at("nowhere"), at("dangling"))
  mkdirSync(at("folder"))
  const silent = Bun.listen({ unix: at("silent.sock"), socket: { data: () => undefined } })
  for (const name of ["thesis.txt", "link", "dangling", "folder", "silent.sock"]) {
    const refused = await listenOnSocket(handler, at(name)).catch((error: { code: string }) => error.code)
    expect({ name, refused, isThere: lstatSync(at(name), { throwIfNoEntry: false }) !== undefined }).toEqual({
      name,
      refused: "conflict",
      isThere: true,
    })
  }
  expect(readFileSync(at("thesis.txt"), "utf8")).toBe("thesis")
  silent.stop(true)
})
