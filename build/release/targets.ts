/** The machines pond is built for, and those it is not built for, with the reason. */
export const TARGET_NAMES = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-arm64",
] as const

export type TargetName = (typeof TARGET_NAMES)[number]

export interface Target {
  readonly name: TargetName
  readonly os: "linux" | "darwin"
  readonly cpu: "x64" | "arm64"
  /** Only Linux has a choice of C libraries. */
  readonly libc?: "glibc" | "musl"
  readonly runtime: Bun.Build.CompileTarget
}

const REFUSED: Readonly<Record<string, string>> = {
  "darwin-x64": "upstream LanceDB stopped shipping its library for Intel Macs with 0.22.3",
  "windows-x64": "pond's files and locks are written for Unix only",
  "windows-arm64": "pond's files and locks are written for Unix only",
}

/** A mistake of whoever builds, or a thing that the build needs and does not get: one line, no stack. */
export class BuildFailure extends Error {
  override readonly name = "BuildFailure"
}

/** The exit code of a script: its own, or 2 with one line where it met a `BuildFailure`. */
export async function orFailure(script: string, main: () => Promise<number>): Promise<number> {
  try {
    return await main()
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    console.error(error.message.replaceAll(/^/gm, `${script}: `))
    return 2
  }
}

export function targetNamed(name: string): Target {
  const known = TARGET_NAMES.find((each) => each === name)
  if (known !== undefined) return targetOf(known)
  const reason = REFUSED[name]
  if (reason !== undefined) throw new BuildFailure(`pond is not built for ${name}: ${reason}.`)
  throw new BuildFailure(`No target is called ${name}. There are: ${TARGET_NAMES.join(", ")}.`)
}

/** The machine that runs the build. */
export function hostTarget(): Target {
  const isMusl = process.platform === "linux" && !("glibcVersionRuntime" in reportHeader())
  return targetNamed(`${process.platform}-${process.arch}${isMusl ? "-musl" : ""}`)
}

function reportHeader(): object {
  return (process.report?.getReport() as { header: object } | undefined)?.header ?? {}
}

function targetOf(name: TargetName): Target {
  const runtime = `bun-${name}` as Bun.Build.CompileTarget
  const cpu = name.includes("arm64") ? "arm64" : "x64"
  if (name.startsWith("darwin")) return { name, os: "darwin", cpu, runtime }
  return { name, os: "linux", cpu, libc: name.endsWith("musl") ? "musl" : "glibc", runtime }
}
