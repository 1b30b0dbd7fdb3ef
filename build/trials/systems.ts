/** Trials of the install script and of the packages of systems, each in a separate root. */
import { existsSync, readdirSync } from "node:fs"
import { basename, join } from "node:path"
import type { Outcome } from "../lib/outcome.ts"
import { alpineRoot, debianRoot, muslRoot } from "./roots.ts"
import {
  doctorOutcome,
  fileOf,
  mountProc,
  mustRun,
  outcome,
  type Released,
  run,
  scratchFolder,
  type Trial,
} from "./trial.ts"

/** As a person without root would: a shell in the home of `you`. */
function asYou(root: string, words: readonly string[]): readonly string[] {
  return ["chroot", "--userspec=1000:1000", root, "env", "-i", "HOME=/home/you", "PATH=/usr/bin:/bin", ...words]
}

async function* installedByScript(release: Released, root: string, libc: string): AsyncIterable<Outcome> {
  await mustRun(["cp", join(release.folder, "install.sh"), join(root, "tmp/install.sh")])
  const pond = asYou(root, ["/home/you/.local/bin/pond"])
  const install = asYou(root, ["sh", "/tmp/install.sh", "--from", release.url])
  await using _proc = await mountProc(root)
  const first = await run(install)
  yield outcome(`install.sh on ${libc}`, first.code === 0 && first.out.includes("Verified: SHA-256"), first.out)
  if (first.code !== 0) return
  const said = await run([...pond, "--version"])
  yield outcome("pond --version", said.out === `pond ${release.version}\n`, said.out)
  yield await doctorOutcome(libc, pond, {})
  const upgrade = await run([...pond, "upgrade", "--from", release.url])
  yield outcome("pond upgrade", upgrade.out.includes("is the latest release"), upgrade.out)
  const again = await run(install)
  yield outcome("install.sh once more", again.code === 0 && again.out.includes("again as"), again.out)
  const removed = await run(asYou(root, ["sh", "/tmp/install.sh", "--uninstall"]))
  const left = filesBelow(join(root, "home/you/.local")).filter((path) => !path.startsWith("share/pond/"))
  yield outcome(
    "--uninstall leaves no file",
    removed.code === 0 && left.length === 0,
    `${left.join(" ")} ${removed.out}`,
  )
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

const scriptOnDebian: Trial = {
  name: "script",
  what: "install.sh on a fresh Debian with curl, without root: install, upgrade, uninstall",
  needs: ["debootstrap", "chroot", "mount"],
  needsRoot: true,
  async *run(release) {
    const root = await debianRoot(release.scratch, ["curl"])
    await mustRun(["chroot", root, "useradd", "--create-home", "--uid", "1000", "you"])
    yield* installedByScript(release, root, "Debian (glibc), curl")
  },
}

const scriptOnMusl: Trial = {
  name: "musl",
  what: "install.sh on a system of musl and BusyBox alone, as Alpine is: install, upgrade, uninstall",
  needs: ["apt-get", "pip", "unzip", "dpkg-deb", "chroot", "mount"],
  needsRoot: true,
  async *run(release) {
    yield* installedByScript(release, await muslRoot(release.scratch), "musl, BusyBox's wget")
  },
}

const scriptOnAlpine: Trial = {
  name: "alpine",
  what: "install.sh on Alpine, from the archive of its root that ALPINE_ROOTFS names: refused without libstdc++, then all of it",
  needs: ["tar", "apt-get", "pip", "unzip", "dpkg-deb", "chroot", "mount"],
  needsRoot: true,
  needsFile: "ALPINE_ROOTFS",
  async *run(release) {
    const {
      root,
      release: version,
      addLibraries,
    } = await alpineRoot(release.scratch, process.env["ALPINE_ROOTFS"] ?? "")
    await mustRun(["cp", join(release.folder, "install.sh"), join(root, "tmp/install.sh")])
    const bare = await run(asYou(root, ["sh", "/tmp/install.sh", "--from", release.url]))
    yield outcome("without libstdc++", bare.code === 1 && bare.out.includes("apk add libstdc++"), bare.out)
    addLibraries()
    yield* installedByScript(release, root, `Alpine ${version}`)
  },
}

const deb: Trial = {
  name: "deb",
  what: "the Debian package: dpkg -i, dpkg -r",
  needs: ["debootstrap", "chroot", "mount"],
  needsRoot: true,
  async *run(release) {
    const path = fileOf(release, /_amd64\.deb$/)
    if (path === undefined) throw new Error("The release has no package for amd64.")
    const root = await debianRoot(release.scratch)
    await mustRun(["cp", path, join(root, "tmp")])
    await using _proc = await mountProc(root)
    const installed = await run(["chroot", root, "dpkg", "-i", `/tmp/${basename(path)}`])
    yield outcome("dpkg -i", installed.code === 0, installed.out)
    const status = await run(["chroot", root, "dpkg", "--verify", "pond"])
    yield outcome("dpkg --verify", status.code === 0 && status.out === "", status.out)
    yield await doctorOutcome("Debian", ["chroot", root, "/usr/bin/pond"], { env: { HOME: "/root" } })
    const removed = await run(["chroot", root, "dpkg", "-r", "pond"])
    const left = ["usr/bin/pond", "usr/share/doc/pond"].filter((each) => existsSync(join(root, each)))
    yield outcome("dpkg -r leaves no file", removed.code === 0 && left.length === 0, `${left.join(" ")} ${removed.out}`)
  },
}

const rpm: Trial = {
  name: "rpm",
  what: "the RPM package: rpm -i, rpm -V, rpm -e",
  needs: ["rpm"],
  needsRoot: true,
  async *run(release) {
    const path = fileOf(release, /\.x86_64\.rpm$/)
    if (path === undefined) throw new Error("The release has no package for x86_64.")
    const root = scratchFolder(release, "rpm")
    // No other package is known there; what it needs is compared with what the system has.
    const rpmIn = ["rpm", "--root", root, "--nodeps"]
    const installed = await run([...rpmIn, "-i", path])
    yield outcome("rpm -i", installed.code === 0, installed.out)
    const verified = await run([...rpmIn, "-V", "pond"])
    yield outcome("rpm -V", verified.code === 0 && verified.out === "", verified.out)
    const home = scratchFolder(release, "rpm-home")
    yield await doctorOutcome("its files", [join(root, "usr/bin/pond")], { env: { HOME: home } })
    const removed = await run([...rpmIn, "-e", "pond"])
    const left = filesBelow(join(root, "usr")).filter((each) => /(^|\/)pond(\/|$|\.)/.test(each))
    yield outcome("rpm -e leaves no file", removed.code === 0 && left.length === 0, `${left.join(" ")} ${removed.out}`)
  },
}

export const SYSTEM_TRIALS: readonly Trial[] = [scriptOnDebian, scriptOnMusl, scriptOnAlpine, deb, rpm]
