/**
 * The flake for Nix. It unpacks the archives of the release by their checksums. NixOS has neither the program loader nor
 * libstdc++ where an executable for Linux looks for them, so `patchelf` names both. The executable loads libstdc++ at its
 * start: some of the libraries that it unpacks have a RUNPATH, by which the RPATH of the executable does not count for them,
 * and a library that is loaded already is taken by its name. The program that it carries is in a section, which stays.
 */
import type { Release } from "./description.ts"
import { archiveName, fill, type ReleasedArchive } from "./install-script.ts"
import type { TargetName } from "./targets.ts"

/** What Nix calls each machine. */
const SYSTEMS: readonly (readonly [system: string, target: TargetName])[] = [
  ["aarch64-darwin", "darwin-arm64"],
  ["aarch64-linux", "linux-arm64"],
  ["x86_64-linux", "linux-x64-baseline"],
]

const TEMPLATE = `# Written by the release of @NAME@ @VERSION@.
{
  description = "@SUMMARY@";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
@ARCHIVES@
      };
      each = nixpkgs.lib.genAttrs (builtins.attrNames archives);
      package = system:
        let
          pkgs = nixpkgs.legacyPackages.\${system};
          isLinux = pkgs.stdenv.hostPlatform.isLinux;
        in
        pkgs.stdenv.mkDerivation {
          pname = "@NAME@";
          version = "@VERSION@";
          src = pkgs.fetchurl archives.\${system};
          nativeBuildInputs = pkgs.lib.optionals isLinux [ pkgs.patchelf ];
          # The executable carries its program: stripping takes that away.
          dontStrip = true;
          dontPatchELF = true;
          installPhase = ''
            runHook preInstall
            install -Dm755 pond $out/bin/pond
            cp -r share $out/share
            runHook postInstall
          '';
          postFixup = pkgs.lib.optionalString isLinux ''
            @PATCH@ $out/bin/pond
          '';
          doInstallCheck = true;
          installCheckPhase = ''
            test "$($out/bin/pond --version)" = "pond @VERSION@"
          '';
          meta = {
            description = "@SUMMARY@";
            homepage = "@HOMEPAGE@";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "pond";
            platforms = builtins.attrNames archives;
            sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
          };
        };
    in
    {
      packages = each (system: { default = package system; pond = package system; });
      apps = each (system: {
        default = { type = "app"; program = "\${self.packages.\${system}.default}/bin/pond"; };
      });
    };
}
`

/** The loader and the directory with libstdc++ may be expressions of Nix, or paths. */
export function patchCommand(loader: string, libraries: string): readonly string[] {
  const needed = ["libstdc++.so.6", "libgcc_s.so.1"].flatMap((name) => ["--add-needed", name])
  return ["patchelf", "--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries, ...needed]
}

/** Nothing where nobody could download the archives, or there is none that Nix has a name for. */
export function flake(release: Release, archives: readonly ReleasedArchive[]): string | undefined {
  const { name, version, summary, homepage, downloads } = release
  if (homepage === undefined || downloads === undefined) return undefined
  const rows = SYSTEMS.flatMap(([system, target]) => {
    const archive = archives.find((each) => each.target === target && each.ending === "tar.gz")
    if (archive === undefined) return []
    const url = `${downloads}/${archiveName(release, target, "tar.gz")}`
    return [`        ${system} = { url = "${url}"; sha256 = "${archive.sha256}"; };`]
  })
  if (rows.length === 0) return undefined
  const patch = patchCommand(
    '"$(cat $NIX_CC/nix-support/dynamic-linker)"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Nix fills it in.
    "${pkgs.lib.makeLibraryPath [ pkgs.stdenv.cc.cc.lib ]}",
  ).join(" ")
  return fill(TEMPLATE, {
    ...{ NAME: name, VERSION: version, SUMMARY: summary, HOMEPAGE: homepage },
    ...{ ARCHIVES: rows.join("\n"), PATCH: patch },
  })
}
