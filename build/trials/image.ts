/**
 * The container image, without a container engine: each line of `Containerfile` is done as it says, in a root of Debian for
 * `debian:12-slim` (which is made by debootstrap too), and the image that comes out is entered by chroot as its user.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Outcome } from "../lib/outcome.ts"
import { debianRoot } from "./roots.ts"
import {
  doctorOutcome,
  mountProc,
  mustRun,
  networkVariables,
  outcome,
  type Released,
  scratchFolder,
  type Trial,
} from "./trial.ts"

interface Image {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
}

/** One instruction a line; a line that ends with a backslash goes on. */
function instructions(text: string): (readonly [name: string, rest: string])[] {
  const joined = text.replace(/^#.*\n/gm, "").replace(/\\\n/g, "")
  return joined.split("\n").flatMap((line) => {
    const [, name = "", rest = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    return name === "" ? [] : [[name, rest] as const]
  })
}

async function build(release: Released, architecture: string): Promise<Image> {
  const stages = new Map<string, string>()
  let image: Image = { root: "", env: {}, user: "0:0", entrypoint: [], command: [] }
  for (const [name, rest] of instructions(readFileSync(join(release.folder, "Containerfile"), "utf8"))) {
    if (name === "FROM") {
      const [from = "", , stage = ""] = rest.split(/\s+/)
      const root = from === "scratch" ? scratchFolder(release, "image") : await debianRoot(release.scratch)
      image = { root, env: {}, user: "0:0", entrypoint: [], command: [] }
      stages.set(stage, root)
    } else if (name === "COPY") {
      const [from, to] = copied(rest.replace(/\$\{TARGETARCH\}/, architecture), release.folder, stages)
      const target = join(image.root, to)
      mkdirSync(dirname(target), { recursive: true })
      if (from.endsWith("/")) await mustRun(["cp", "--archive", `${from}.`, target])
      else cpSync(from, target)
    } else if (name === "RUN") {
      await mustRun(["chroot", image.root, "/bin/sh", "-c", rest], {
        env: { ...networkVariables(), DEBIAN_FRONTEND: "noninteractive" },
      })
    } else if (name === "ENV") {
      const pairs = rest
        .split(/\s+/)
        .map((pair): [string, string] => [pair.split("=")[0] ?? "", pair.replace(/^[^=]*=/, "")])
      image = { ...image, env: { ...image.env, ...Object.fromEntries(pairs) } }
    } else if (name === "USER") image = { ...image, user: rest }
    else if (name === "ENTRYPOINT") image = { ...image, entrypoint: JSON.parse(rest) }
    else if (name === "CMD") image = { ...image, command: JSON.parse(rest) }
    else if (!["ARG", "LABEL", "WORKDIR", "VOLUME", "EXPOSE"].includes(name))
      throw new Error(`This trial does not know ${name} of the Containerfile.`)
  }
  return image
}

function copied(
  rest: string,
  context: string,
  stages: ReadonlyMap<string, string>,
): readonly [from: string, to: string] {
  const [, stage, from = "", to = ""] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? []
  if (stage === undefined) return [join(context, from), to]
  return [`${join(stages.get(stage) ?? "", from)}/`, to]
}

export const imageTrial: Trial = {
  name: "image",
  what: "the container image: every line of Containerfile, then its command in its layout under chroot",
  needs: ["debootstrap", "chroot", "mount"],
  needsRoot: true,
  async *run(release): AsyncIterable<Outcome> {
    const { root, env, user, entrypoint, command } = await build(release, "amd64")
    const programs = readdirSync(join(root, "usr/bin"))
    const others = ["bin", "sbin", "usr/sbin"].filter((each) => existsSync(join(root, each)))
    yield outcome(
      "no shell, no package manager",
      programs.join() === "pond" && others.length === 0,
      [...programs, ...others].join(" "),
    )
    const size = await mustRun(["du", "--summarize", "--block-size=1000000", root])
    yield outcome("its size", Number.parseInt(size, 10) < 400, `${Number.parseInt(size, 10)} MB`)
    await using _proc = await mountProc(root)
    // Found here, and not by the PATH of the image.
    const inside = [Bun.which("chroot") ?? "chroot", `--userspec=${user}`, root, ...entrypoint]
    yield await doctorOutcome("the image", inside, { env })
    yield await served([...inside, ...command, "--port", "0"], env)
    const folder = join(root, "home/pond/.local/state/pond/token")
    yield outcome("the volume keeps the token", existsSync(folder), basename(folder))
  },
}

/** Its server answers whoever has the token that it prints. */
export async function served(command: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  let said = ""
  try {
    for await (const piece of child.stdout) {
      said += Buffer.from(piece).toString()
      if (said.includes("The token is kept")) break
    }
    const [, token = "", port = ""] = /pond:([^@]+)@[^:]+:(\d+)/.exec(said) ?? []
    const answer = await fetch(`http://127.0.0.1:${port}/v1/search`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ protocol_version: 1, query: "anything" }),
    })
    const without = await fetch(`http://127.0.0.1:${port}/v1/search`, { method: "POST", body: "{}" })
    const isRight = answer.status === 200 && without.status === 401
    return outcome("serve answers with its token alone", isRight, `${answer.status} with, ${without.status} without`)
  } catch (error) {
    return outcome("serve answers with its token alone", false, `${String(error)} ${said}`)
  } finally {
    child.kill()
    await child.exited
  }
}
