/** Root directories of other systems, to try a release in: Debian by debootstrap, and musl with the programs of BusyBox. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { mustRun, networkVariables, TRIAL_CACHE } from "./trial.ts"

const SUITE = "bookworm"
/** What Debian's archive is called in the lists of the machine that runs the trials. */
const ARCHIVE = process.env["DEBIAN_ARCHIVE"] ?? "http://deb.debian.org/debian"

/** A fresh copy of Debian as its images have it: no curl, no certificates. `including` names packages to add. */
export async function debianRoot(scratch: string, including: readonly string[] = []): Promise<string> {
  const name = [SUITE, ...including].join("+")
  const kept = join(TRIAL_CACHE, "roots", name)
  if (!existsSync(kept)) {
    mkdirSync(dirname(kept), { recursive: true })
    const draft = mkdtempSync(`${kept}-draft-`)
    const added = including.length === 0 ? [] : [`--include=${including.join(",")}`]
    await mustRun(["debootstrap", "--variant=minbase", ...added, SUITE, draft, ARCHIVE], { env: networkVariables() })
    renameSync(draft, kept)
  }
  const root = mkdtempSync(join(scratch, "debian-"))
  await mustRun(["cp", "--archive", `${kept}/.`, root])
  chmodSync(root, 0o755)
  return root
}

/** As in Alpine 3.20 and later. With Debian's build of 1.2.3 the runtime ends with a segmentation fault; with Alpine's it does not. */
const MUSL = {
  path: "pool/main/m/musl/musl_1.2.5-3_amd64.deb",
  sha256: "4288deaf14438e6c237491be45f10e3e7badb2e723cedfb08ff1fe687b646c84",
}
const MUSL_LOADER = "lib/ld-musl-x86_64.so.1"
/** A wheel that brings libstdc++ for musl, as Alpine builds it. Any with C++ in it does. */
const WHEEL = "greenlet==3.5.6"

/**
 * A system whose only C library is musl and whose programs are those of BusyBox, as in Alpine: its shell, awk, tar, df and
 * wget, no bash, curl or zstd. Alpine's own packages cannot be had from the registries of a build, so musl and BusyBox are
 * Debian's, and libstdc++ is the one that wheels for musl carry.
 */
export async function muslRoot(scratch: string): Promise<string> {
  const parts = join(TRIAL_CACHE, "musl")
  if (!existsSync(join(parts, "complete"))) await fetchMusl(parts)
  const root = mkdtempSync(join(scratch, "musl-"))
  for (const folder of ["bin", "lib", "usr/bin", "usr/lib", "etc", "home/you", "tmp", "proc", "dev"])
    mkdirSync(join(root, folder), { recursive: true })
  chmodSync(root, 0o755)
  chmodSync(join(root, "tmp"), 0o1777)
  await makeDevices(root)
  cpSync(join(parts, "busybox"), join(root, "bin/busybox"))
  cpSync(join(parts, "ld-musl"), join(root, MUSL_LOADER))
  // In Alpine the loader is `ldd` as well.
  symlinkSync(`/${MUSL_LOADER}`, join(root, "usr/bin/ldd"))
  copyLibraries(parts, root)
  await mustRun(["chroot", root, "/bin/busybox", "--install", "-s", "/bin"])
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nyou:x:1000:1000:you:/home/you:/bin/sh\n")
  writeFileSync(join(root, "etc/hosts"), "127.0.0.1 localhost\n")
  await mustRun(["chown", "1000:1000", join(root, "home/you")])
  return root
}

/**
 * Alpine as its makers publish it (`alpine-minirootfs-*.tar.gz`), which has no libstdc++: `addLibraries` copies the one that
 * `apk add libstdc++` would bring from a wheel.
 */
export async function alpineRoot(scratch: string, archive: string) {
  const parts = join(TRIAL_CACHE, "musl")
  if (!existsSync(join(parts, "complete"))) await fetchMusl(parts)
  const root = mkdtempSync(join(scratch, "alpine-"))
  await mustRun(["tar", "-xzf", archive, "-C", root])
  chmodSync(root, 0o755)
  await makeDevices(root)
  await mustRun(["chroot", root, "adduser", "-D", "-u", "1000", "you"])
  const release = readFileSync(join(root, "etc/alpine-release"), "utf8").trim()
  const addLibraries = () => copyLibraries(parts, root)
  return { root, release, addLibraries }
}

async function makeDevices(root: string): Promise<void> {
  for (const [name, minor] of Object.entries({ null: "3", zero: "5", random: "8", urandom: "9" })) {
    rmSync(join(root, "dev", name), { force: true })
    await mustRun(["mknod", "--mode=666", join(root, "dev", name), "c", "1", minor])
  }
}

function copyLibraries(parts: string, root: string): void {
  for (const library of ["libstdc++.so.6", "libgcc_s.so.1"])
    cpSync(join(parts, library), join(root, "usr/lib", library))
}

async function fetchMusl(parts: string): Promise<void> {
  const draft = mkdtempSync(join(tmpdir(), "pond-musl-"))
  try {
    const env = networkVariables()
    const musl = new Uint8Array(await (await fetch(`${ARCHIVE}/${MUSL.path}`)).arrayBuffer())
    if (new Bun.CryptoHasher("sha256").update(musl).digest("hex") !== MUSL.sha256)
      throw new Error(`${ARCHIVE}/${MUSL.path} is not the package that was meant.`)
    writeFileSync(join(draft, "musl.deb"), musl)
    await mustRun(["apt-get", "download", "busybox-static"], { cwd: draft, env })
    const wheelFor = ["--only-binary=:all:", "--platform", "musllinux_1_2_x86_64", "--python-version", "3.12"]
    await mustRun(["pip", "download", "--no-deps", ...wheelFor, "--dest", draft, WHEEL], { cwd: draft, env })
    for (const name of readdirSync(draft)) {
      if (name.endsWith(".deb")) await mustRun(["dpkg-deb", "--extract", name, "tree"], { cwd: draft })
      if (name.endsWith(".whl")) await mustRun(["unzip", "-q", name, "-d", "tree"], { cwd: draft })
    }
    mkdirSync(parts, { recursive: true })
    const found = readdirSync(join(draft, "tree"), { recursive: true }).map(String)
    const wanted: readonly (readonly [to: string, pattern: RegExp])[] = [
      ["busybox", /bin\/busybox$/],
      ["ld-musl", /x86_64-linux-musl\/libc\.so$/],
      ["libstdc++.so.6", /libstdc\+\+-[^/]*$/],
      ["libgcc_s.so.1", /libgcc_s-[^/]*$/],
    ]
    for (const [to, pattern] of wanted) {
      const from = found.find((path) => pattern.test(path))
      if (from === undefined) throw new Error(`None of what was fetched is ${to}.`)
      cpSync(join(draft, "tree", from), join(parts, to), { dereference: true })
    }
    // Wheels name the libraries after their contents; the executable asks for them by their own names.
    await renameNeeded(join(parts, "libstdc++.so.6"))
    writeFileSync(join(parts, "complete"), "")
  } finally {
    rmSync(draft, { recursive: true })
  }
}

/** The name of libgcc in libstdc++ is given back, in place: `libgcc_s-0cd532bd.so.1` becomes `libgcc_s.so.1`. */
async function renameNeeded(path: string): Promise<void> {
  const bytes = Buffer.from(await Bun.file(path).arrayBuffer())
  const at = bytes.indexOf("libgcc_s-")
  if (at < 0) return
  const end = bytes.indexOf(0, at)
  bytes.fill(0, at, end)
  bytes.write("libgcc_s.so.1", at)
  await Bun.write(path, bytes)
}
