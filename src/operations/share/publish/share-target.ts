/** Where shared files go: a bucket, a directory, or a gist on GitHub. Each can take back what it was given. */
import { mkdirSync, rmSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { PondError } from "../../../model/errors.ts"
import { writeNewFile } from "../../../platform/files/new-file.ts"
import type { Host } from "../../../platform/host/host.ts"
import { findProgram, runProgram } from "../../../platform/process/programs.ts"
import { openPublicFolder } from "../../../substrate/bucket/publish.ts"
import type { Shared } from "./share-shapes.ts"

export interface TargetRequest {
  readonly to: string
  /** Of the share: the folder of its files in a bucket, which nobody guesses. */
  readonly id: string
  readonly expiresSeconds: number | undefined
  readonly isPublic: boolean
}

export interface ShareTarget {
  readonly kind: Shared["kind"]
  readonly shown: string
  readonly format: "html" | "md"
  /** From one file to another of the same share. */
  readonly hrefOf: (name: string) => string
  /** Gives what was written, and the link to the last of them. */
  publish(
    paths: readonly string[],
    title: string,
  ): Promise<{ readonly files: readonly string[]; readonly link: string }>
}

export function openTarget(host: Host, request: TargetRequest): ShareTarget {
  const { to, expiresSeconds, isPublic } = request
  if (to.includes("://") && !to.startsWith("file:")) return bucketTarget(host, request)
  if (expiresSeconds !== undefined || isPublic) {
    const flag = isPublic ? "--public" : "--expires"
    throw new PondError("validation_failed", `${flag} is for links into a bucket, and not for ${to}.`, {
      details: { flag },
    })
  }
  return to === "gist" ? gistTarget(host) : directoryTarget(to)
}

// --- A bucket ----------------------------------------------------------------------------------------------------------

const WEEK_SECONDS = 7 * 86_400

function bucketTarget(host: Host, { to, id, expiresSeconds = WEEK_SECONDS, isPublic }: TargetRequest): ShareTarget {
  const folder = folderOf(host, to)
  const linkTo = (name: string) =>
    isPublic ? folder.plainLink(`${id}/${name}`) : folder.signedLink(`${id}/${name}`, expiresSeconds)
  return {
    kind: "bucket",
    shown: folder.shown,
    format: "html",
    // A signature is of one file: pages that link to each other by name alone would be refused.
    hrefOf: linkTo,
    publish: async (paths) => {
      for (const path of paths) await folder.upload(`${id}/${basename(path)}`, path, "text/html; charset=utf-8")
      return { files: paths.map((path) => `${id}/${basename(path)}`), link: linkTo(basename(paths.at(-1) ?? "")) }
    },
  }
}

function folderOf(host: Host, url: string) {
  return openPublicFolder(url, { environment: host.environment, configured: host.settings().values.storage })
}

// --- A directory ---------------------------------------------------------------------------------------------------------

function directoryTarget(to: string): ShareTarget {
  const directory = resolve(to)
  return {
    kind: "directory",
    shown: to,
    format: "html",
    hrefOf: (name) => name,
    publish: async (paths) => {
      mkdirSync(directory, { recursive: true })
      const files: string[] = []
      try {
        for (const path of paths) {
          const file = join(directory, basename(path))
          await writeNewFile(file, textChunks(path), { isForced: false })
          files.push(file)
        }
      } catch (error) {
        for (const file of files) rmSync(file, { force: true })
        throw error
      }
      return { files, link: pathToFileURL(files.at(-1) ?? directory).href }
    },
  }
}

async function* textChunks(path: string): AsyncGenerator<string> {
  yield* Bun.file(path).stream().pipeThrough(new TextDecoderStream())
}

// --- A gist --------------------------------------------------------------------------------------------------------------

/** GitHub shows the source of HTML, and Markdown as it is meant. */
function gistTarget(host: Host): ShareTarget {
  if (findProgram("gh", host.environment) === undefined)
    throw new PondError(
      "not_found",
      "gh is not installed: sharing to a gist is done by GitHub's program (cli.github.com).",
      {
        details: { program: "gh" },
      },
    )
  return {
    kind: "gist",
    shown: "gist",
    format: "md",
    hrefOf: (name) => `#file-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`,
    publish: async (paths, title) => {
      const { exitCode, stdout, stderr } = await runProgram(
        ["gh", "gist", "create", "--desc", title, ...paths],
        host.environment,
      )
      const link = /https:\/\/\S+/.exec(stdout)?.[0]
      if (exitCode !== 0 || link === undefined) throw ghFailed("make the gist", stderr)
      return { files: paths.map((path) => basename(path)), link }
    },
  }
}

function ghFailed(what: string, stderr: string): PondError {
  const why = stderr.trim().split("\n").at(-1) ?? ""
  return new PondError("storage_unavailable", `gh did not ${what}: ${why || "it does not say why"}`, {
    details: { program: "gh" },
  })
}

// --- Taking back -----------------------------------------------------------------------------------------------------------

/** What is gone already counts as taken back. */
export async function takeBackShare(host: Host, { kind, to, files, link }: Shared): Promise<void> {
  if (kind === "directory") for (const file of files) rmSync(file, { force: true })
  if (kind === "bucket") {
    const folder = folderOf(host, to)
    for (const file of files) await folder.remove(file)
  }
  if (kind !== "gist") return
  const { exitCode, stderr } = await runProgram(["gh", "gist", "delete", basename(link), "--yes"], host.environment)
  if (exitCode !== 0 && !/not found|404/i.test(stderr)) throw ghFailed("delete the gist", stderr)
}
