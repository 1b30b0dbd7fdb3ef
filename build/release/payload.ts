/** The files that an installed pond consists of besides the executable: completions, the manual page, licenses. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Entry, inFolder, textEntry } from "./archive.ts"
import { licensesOf } from "./licenses.ts"
import { ROOT } from "./packages.ts"
import { BuildFailure } from "./targets.ts"

/** Where shells and `man` look for what pond prints, below the `share` of a prefix. */
const PRINTED: readonly (readonly [path: string, ...words: string[]])[] = [
  ["share/bash-completion/completions/pond", "completions", "bash"],
  ["share/zsh/site-functions/_pond", "completions", "zsh"],
  ["share/fish/vendor_completions.d/pond.fish", "completions", "fish"],
  ["share/man/man1/pond.1", "man"],
]

/** `packages` are the directories of all packages of which something is in the executable. */
export async function sharedFiles(packages: readonly string[]): Promise<Entry[]> {
  const printed = await Promise.all(
    PRINTED.map(async ([path, ...words]) => textEntry(path, await printedByPond(words))),
  )
  const documents = ["README.md", "LICENSE"].map((name) => ({ path: name, content: readFileSync(join(ROOT, name)) }))
  const licenses = [...licensesOf(packages)].map(([name, text]) => textEntry(`licenses/${name}`, text))
  return [...printed, ...inFolder("share/doc/pond", [...documents, ...licenses])]
}

/** What this source prints. The executable of the target would print the same, and may be of another machine. */
async function printedByPond(words: readonly string[]): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "pond-release-"))
  try {
    const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...words], {
      cwd: home,
      env: { HOME: home, PATH: process.env["PATH"] ?? "" },
      stdout: "pipe",
      stderr: "pipe",
    })
    const [text, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new BuildFailure(`pond ${words.join(" ")} failed: ${said}`)
    return text
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
