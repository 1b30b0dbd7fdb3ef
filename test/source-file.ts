/** A file as a plan would have found it, for tests that hand records to a parser themselves. */
import type { SourceFile } from "../src/adapters/adapter.ts"
import { fromDisk } from "../src/adapters/source-value.ts"

export function sourceFile(relativePath: string, more: Partial<Omit<SourceFile, symbol>> = {}): SourceFile {
  return fromDisk({
    path: `/x/${relativePath}`,
    relativePath,
    form: "log",
    sizeBytes: 1,
    modifiedMs: 1_770_000_000_000,
    inode: 1,
    ...more,
  })
}
