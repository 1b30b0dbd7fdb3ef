/**
 * The executable for macOS, signed and seen by Apple, where the build has an identity to sign with: Gatekeeper stops what
 * browsers download otherwise. Without an identity the signature of the linker stays, which suffices for what `curl` and
 * Homebrew bring.
 *
 *   APPLE_SIGNING_IDENTITY   the name of a Developer ID in the keychain
 *   APPLE_NOTARY_PROFILE     the credentials that `xcrun notarytool store-credentials` has kept under that name
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "./packages.ts"
import { BuildFailure, type Target } from "./targets.ts"

/** What the runtime needs of the hardened runtime: it compiles while it runs, and loads the libraries that it unpacks. */
const ENTITLEMENTS = join(ROOT, "build/release/templates/entitlements.plist")

type Variables = Readonly<Record<string, string | undefined>>

/** What was done, in words. A file that is no bundle cannot carry the ticket: Gatekeeper asks Apple for it. */
export function notarise(target: Target, executable: string, variables: Variables = process.env): string {
  const { APPLE_SIGNING_IDENTITY: identity, APPLE_NOTARY_PROFILE: profile } = variables
  if (target.os !== "darwin") return "not for macOS"
  if (!identity) return "not notarised: APPLE_SIGNING_IDENTITY is not set"
  const flags = ["--force", "--timestamp", "--options", "runtime", "--entitlements", ENTITLEMENTS]
  must(["codesign", ...flags, "--sign", identity, executable], variables)
  must(["codesign", "--verify", "--strict", executable], variables)
  if (!profile) return "signed, not notarised: APPLE_NOTARY_PROFILE is not set"
  const archive = `${executable}.zip`
  try {
    must(["ditto", "-c", "-k", executable, archive], variables)
    must(["xcrun", "notarytool", "submit", archive, "--keychain-profile", profile, "--wait"], variables)
  } finally {
    rmSync(archive, { force: true })
  }
  return "signed and notarised"
}

function must(command: readonly string[], variables: Variables): void {
  const [name = "", ...words] = command
  const path = Bun.which(name, { PATH: variables["PATH"] ?? "" })
  if (path === null) throw new BuildFailure(`${name} is not here: sign on a Mac with Xcode's command line tools.`)
  const { exitCode, stdout, stderr } = Bun.spawnSync([path, ...words], { env: { ...variables }, stderr: "pipe" })
  if (exitCode !== 0) throw new BuildFailure(`${name} ended with ${exitCode}: ${stdout}${stderr}`)
}
