import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A directory that is there for as long as it is in scope. */
export function tempFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "pond-test-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
