/** How each part of a release was tried, for its notes: what ran, where, and what could only be written. */
import { TRIALS } from "../trials/trials.ts"

interface Proof {
  readonly part: string
  readonly how: string
}

/** Run by the workflow of a release on machines that `bun run try-install` has not. A test looks for each line there. */
export const ON_RUNNERS: readonly (Proof & { readonly line: string })[] = [
  {
    part: "every target",
    how: "`pond doctor` on a machine of its kind: x64 and arm64, glibc and musl, macOS",
    line: "./dist/pond-darwin-arm64 doctor",
  },
  {
    part: "the container image",
    how: "`docker build`, and `doctor` in it",
    line: "docker build --file dist/release/Containerfile",
  },
  {
    part: "the formula",
    how: "`brew audit`, `brew install` and `brew test` on macOS",
    line: "brew audit --strict --formula",
  },
  {
    part: "reproducible builds",
    how: "the executable for linux-x64 built again on another machine at the same path, and compared",
    line: "bun run reproduce",
  },
  {
    part: "where it was built",
    how: "an attestation of every file: `gh attestation verify FILE --repo OWNER/NAME`",
    line: "actions/attest-build-provenance",
  },
]

export const ONLY_WRITTEN: readonly Proof[] = [
  {
    part: "notarisation",
    how: "needs an identity of Apple: `build/release/notarise.ts` was run with stand-ins for its programs",
  },
  {
    part: "the flake",
    how: "`nix build` with the real nixpkgs; with stand-ins it evaluates, and what it patches runs",
  },
  { part: "packages for arm64", how: "made like those for x64, not installed" },
  { part: "the template for GitLab", how: "read as YAML, not run by GitLab" },
]

export function proofTable(): string {
  const rows = [
    ...TRIALS.map(({ name, what }) => [what, `\`bun run try-install ${name}\``]),
    ...ON_RUNNERS.map(({ part, how }) => [`${part}: ${how}`, "the workflow of the release"]),
    ...ONLY_WRITTEN.map(({ part, how }) => [`${part}: ${how}`, "**only written**"]),
  ]
  const head = ["## How this release was tried", "", "| what | by |", "| --- | --- |"]
  return [...head, ...rows.map(([what, by]) => `| ${what} | ${by} |`)].join("\n")
}
