/** The formula for a Homebrew tap. It installs the archives of the release, by their checksums. */
import type { Release } from "./description.ts"
import { archiveName, type ReleasedArchive } from "./install-script.ts"
import type { TargetName } from "./targets.ts"

/**
 * Nothing where the release has no page, which Homebrew asks for, or no archive that it could install. It names no
 * version: Homebrew reads it from the URLs, and its audit refuses one that says the same.
 */
export function formula(release: Release, archives: readonly ReleasedArchive[]): string | undefined {
  const { homepage, downloads } = release
  if (homepage === undefined || downloads === undefined) return undefined
  const machine = (name: TargetName): string => {
    const archive = archives.find(({ target, ending }) => target === name && ending === "tar.gz")
    if (archive === undefined) return ""
    const url = `${downloads}/${archiveName(release, name, "tar.gz")}`
    return `      url "${url}"\n      sha256 "${archive.sha256}"\n`
  }
  const block = (os: TargetName, name: string) => (machine(os) === "" ? "" : `    ${name} do\n${machine(os)}    end\n`)
  const macos = block("darwin-arm64", "on_arm")
  const linux = `${block("linux-x64-baseline", "on_intel")}${block("linux-arm64", "on_arm")}`
  if (macos === "" && linux === "") return undefined
  return `# Written by the release of ${release.name} ${release.version}.
class Pond < Formula
  desc "${release.summary}"
  homepage "${homepage}"
  license "${release.license}"

  on_macos do
    depends_on arch: :arm64
${macos}  end

  on_linux do
${linux}  end

  def install
    bin.install "pond"
    bash_completion.install "share/bash-completion/completions/pond"
    zsh_completion.install "share/zsh/site-functions/_pond"
    fish_completion.install "share/fish/vendor_completions.d/pond.fish"
    man1.install "share/man/man1/pond.1"
    doc.install Dir["share/doc/pond/*"]
  end

  service do
    run [opt_bin/"pond", "watch"]
    keep_alive true
    log_path var/"log/pond.log"
    error_log_path var/"log/pond.log"
  end

  test do
    assert_equal "pond #{version}", shell_output("#{bin}/pond --version").strip
    assert_match "store engine: wrote, indexed, read and searched a table", shell_output("#{bin}/pond doctor")
  end
end
`
}
