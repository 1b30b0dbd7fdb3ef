#!/bin/sh
# Installs pond @VERSION@ for one user, without root:
#
#   sh install.sh                       to ~/.local
#   sh install.sh --prefix DIR          to DIR/bin and DIR/share
#   sh install.sh --from URL            downloads from a mirror, or takes the archives from a directory
#   sh install.sh --uninstall           removes pond again; the store is kept
#
# Run it again to upgrade. What is downloaded must have the SHA-256 that stands in this script, so a mirror is not
# trusted. Nothing is changed before the new executable has run once.
set -eu

VERSION='@VERSION@'
DOWNLOADS='@DOWNLOADS@'
REPOSITORY='@REPOSITORY@'
GLIBC_MIN='@GLIBC_MIN@'
MUSL_MIN='@MUSL_MIN@'

# One line for each archive: target, ending, SHA-256, bytes of the archive, bytes unpacked.
ARCHIVES='@ARCHIVES@'

say() { printf '%s\n' "$*"; }
warn() { printf 'install: %s\n' "$*" >&2; }
fail() { warn "$@"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

usage() {
  cat <<END
Install pond $VERSION.

  --prefix DIR    install to DIR/bin and DIR/share (default: ~/.local)
  --from URL      download from this URL or directory (default: the release; also POND_INSTALL_FROM)
  --target NAME   install the build for this machine instead of the one found:
                  @TARGETS@
  --uninstall     remove what this script installed, and the setup of pond; the store is kept
  --help          show this
END
}

# --- What machine this is ---------------------------------------------------------------------------------------------

find_target() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) fail "pond does not run on Windows itself. Run this script inside WSL." ;;
    *) fail "pond is not built for $(uname -s)." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "pond is not built for the processor $(uname -m)." ;;
  esac
  if [ "$os" = darwin ]; then
    # A shell that Rosetta translates says x86_64 on an Apple processor.
    [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ] && cpu=arm64
    target=$os-$cpu
    return
  fi
  if is_musl; then
    target=$os-$cpu-musl
  elif [ "$cpu" = x64 ] && ! grep -qw avx2 "${POND_INSTALL_CPUINFO:-/proc/cpuinfo}" 2>/dev/null; then
    target=linux-x64-baseline
  else
    target=$os-$cpu
  fi
}

is_musl() {
  case $(ldd --version 2>&1 || true) in
    *musl*) return 0 ;;
    *GLIBC* | *"GNU libc"* | *"Free Software Foundation"*) return 1 ;;
  esac
  for loader in /lib/ld-musl-*; do
    [ -e "$loader" ] && return 0
  done
  return 1
}

# What the executable loads from the system.
check_libraries() {
  case $target in
    *-musl)
      has_library libstdc++.so.6 ||
        fail "libstdc++ is missing; pond needs it. On Alpine: apk add libstdc++"
      found=$(ldd --version 2>&1 | sed -n 's/^Version //p' || true)
      [ -z "$found" ] || is_from "$MUSL_MIN" "$found" ||
        warn "This system has musl $found; pond was tried with $MUSL_MIN and newer."
      ;;
    linux-*)
      found=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //' || true)
      [ -n "$found" ] || return 0
      is_from "$GLIBC_MIN" "$found" || fail "This system has glibc $found; pond needs $GLIBC_MIN or newer."
      ;;
  esac
}

# has_library NAME: whether it is where musl's loader looks for libraries
has_library() {
  for place in ${POND_INSTALL_LIBRARIES:-/lib /usr/local/lib /usr/lib}; do
    [ ! -e "$place/$1" ] || return 0
  done
  return 1
}

# is_from OLDEST VERSION: whether the version is that one or newer
is_from() {
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$1" ]
}

# check_space DIRECTORY MEGABYTES
check_space() {
  free=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')
  [ -n "$free" ] || return 0
  [ "$free" -ge "$2" ] || fail "$1 has $free MB of free space; $2 MB are needed."
}

# --- Download and verify ----------------------------------------------------------------------------------------------

# row_of TARGET: its line of ARCHIVES
row_of() {
  printf '%s\n' "$ARCHIVES" | awk -v t="$1" -v e="$ending" '$1 == t && $2 == e'
}

choose_archive() {
  ending=tar.gz
  has zstd && ending=tar.zst
  row=$(row_of "$target")
  if [ -z "$row" ]; then
    # What runs on every processor runs on this one.
    row=$(row_of "$target-baseline")
    [ -z "$row" ] || target=$target-baseline
  fi
  [ -n "$row" ] || fail "This release has no build for $target."
  # shellcheck disable=SC2086 # The words of the row are the parameters.
  set -- $row
  sha256=$3
  bytes=$4
  megabytes=$((($4 + $5) / 1000000 + 1))
  archive=pond-$VERSION-$target.$ending
}

# fetch NAME FILE BYTES: no mirror can fill the disk, or keep this script waiting for ever
fetch() {
  if [ -d "$from" ]; then
    [ -f "$from/$1" ] || fail "$from has no $1."
    cp "$from/$1" "$2"
  elif has curl; then
    progress=-sS
    [ -t 2 ] && progress=--progress-bar
    (
      ulimit -f $(($3 / 512 + 1)) 2>/dev/null || true
      curl -fL "$progress" --retry 3 --connect-timeout 30 --speed-limit 1 --speed-time 60 -o "$2" "${from%/}/$1"
    ) || fail "Cannot download ${from%/}/$1."
  elif has wget; then
    (
      ulimit -f $(($3 / 512 + 1)) 2>/dev/null || true
      wget -q -T 60 -O "$2" "${from%/}/$1"
    ) || fail "Cannot download ${from%/}/$1."
  else
    fail "Neither curl nor wget is installed: one of them is needed."
  fi
}

sha256_of() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 "$1" | sed 's/.*= *//'
  else
    fail "None of sha256sum, shasum and openssl is installed: one of them is needed to check the download."
  fi
}

verify() {
  actual=$(sha256_of "$1")
  [ "$actual" = "$sha256" ] || fail "$archive is not what was released: its SHA-256 is $actual, not $sha256. Nothing was installed."
  if [ -n "$REPOSITORY" ] && has gh && gh auth status >/dev/null 2>&1; then
    gh attestation verify "$1" --repo "$REPOSITORY" >/dev/null ||
      fail "gh cannot verify the attestation of $archive. Nothing was installed."
    say "Verified: SHA-256 and the attestation of $REPOSITORY."
  else
    say "Verified: SHA-256."
  fi
}

unpack() {
  case $1 in
    *.zst) zstd -dcq "$1" | tar -xf - -C "$2" ;;
    *) gzip -dc "$1" | tar -xf - -C "$2" ;;
  esac
}

# --- Install and uninstall --------------------------------------------------------------------------------------------

make_directory() {
  mkdir -p "$1" 2>/dev/null || fail "Cannot create $1. Choose another directory with --prefix."
  [ -w "$1" ] || fail "Cannot write to $1. Choose another directory with --prefix."
}

# What an installation left that was killed.
remove_leftovers() {
  for leftover in "$bin"/.pond-install.*; do
    [ -d "$leftover" ] || continue
    kill -0 "${leftover##*.}" 2>/dev/null || rm -rf "$leftover"
  done
}

# Files of the version before that this one does not have.
remove_outdated() {
  while IFS= read -r file; do
    grep -qxF "$file" "$manifest" || remove_installed "$file"
  done <"$scratch/installed-before"
}

# remove_installed FILE: one line of the list of installed files
remove_installed() {
  case /$1/ in
    */../* | //*) warn "ignored in $manifest: $1" ;;
    *) rm -f "$prefix/$1" ;;
  esac
}

install_pond() {
  find_target
  [ -z "$wanted" ] || target=$wanted
  choose_archive
  [ -n "$wanted" ] || check_libraries
  [ -n "$from" ] || fail "This script does not know where the release is. Give its URL with --from."
  bin=$prefix/bin
  make_directory "$bin"
  [ ! -d "$bin/pond" ] || fail "$bin/pond is a directory. Move it away, or choose another directory with --prefix."
  remove_leftovers
  check_space "$bin" "$megabytes"

  # Beside its place: there is room, programs may run there, and the last step is a rename.
  scratch=$bin/.pond-install.$$
  mkdir "$scratch"
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  say "Downloading $archive"
  fetch "$archive" "$scratch/$archive" "$bytes"
  verify "$scratch/$archive"
  unpack "$scratch/$archive" "$scratch"
  folder=$scratch/pond-$VERSION-$target
  said=$("$folder/pond" --version 2>&1) ||
    fail "The executable does not run here: $(printf '%s\n' "$said" | head -n 1). Nothing was installed."
  [ "$said" = "pond $VERSION" ] || fail "The executable says \"$said\", not \"pond $VERSION\". Nothing was installed."

  before=
  [ -x "$bin/pond" ] && before=$("$bin/pond" --version 2>/dev/null || true)
  share=$prefix/share
  manifest=$share/doc/pond/installed-files
  make_directory "$share/doc/pond"
  cat "$manifest" >"$scratch/installed-before" 2>/dev/null || true
  : >"$scratch/installed-files"
  (cd "$folder/share" && find . -type f) | sed 's|^\./||' | while IFS= read -r file; do
    make_directory "$(dirname "$share/$file")"
    cp "$folder/share/$file" "$share/$file"
    printf 'share/%s\n' "$file" >>"$scratch/installed-files"
  done
  mv -f "$folder/pond" "$bin/pond"
  printf 'bin/pond\nshare/doc/pond/installed-files\n' >>"$scratch/installed-files"
  mv -f "$scratch/installed-files" "$manifest"
  remove_outdated
  report
}

report() {
  case $before in
    "") say "Installed pond $VERSION as $bin/pond." ;;
    "pond $VERSION") say "Installed pond $VERSION again as $bin/pond." ;;
    *) say "Upgraded $before to $VERSION: $bin/pond." ;;
  esac
  case :$PATH: in
    *":$bin:"*)
      first=$(command -v pond || true)
      [ "$first" = "$bin/pond" ] || warn "$first comes first in PATH and hides $bin/pond."
      say "Next: pond init"
      ;;
    *)
      say "$bin is not in your PATH. Add this line to the startup file of your shell:"
      # shellcheck disable=SC2016 # The user's shell expands it.
      say "  export PATH=\"$bin:\$PATH\""
      say "Next: $bin/pond init"
      ;;
  esac
}

uninstall_pond() {
  manifest=$prefix/share/doc/pond/installed-files
  [ -f "$manifest" ] || fail "pond is not installed below $prefix by this script. Use --prefix to name the place."
  if [ -x "$prefix/bin/pond" ]; then
    "$prefix/bin/pond" uninstall --yes || warn "pond could not remove its setup; its files are removed all the same."
  fi
  # The list removes itself with the rest, so it is read before.
  files=$(cat "$manifest")
  printf '%s\n' "$files" | while IFS= read -r file; do
    remove_installed "$file"
  done
  rmdir "$prefix/share/doc/pond/licenses" "$prefix/share/doc/pond" 2>/dev/null || true
  say "Removed pond from $prefix."
}

main() {
  prefix=
  from=${POND_INSTALL_FROM:-$DOWNLOADS}
  wanted=
  action=install
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --from | --target) [ $# -ge 2 ] || fail "$1 needs a value." ;;
    esac
    case $1 in
      --prefix) prefix=$2; shift ;;
      --prefix=*) prefix=${1#*=} ;;
      --from) from=$2; shift ;;
      --from=*) from=${1#*=} ;;
      --target) wanted=$2; shift ;;
      --target=*) wanted=${1#*=} ;;
      --uninstall) action=uninstall ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; fail "Unknown option: $1" ;;
    esac
    shift
  done
  if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set. Choose a directory with --prefix."
    prefix=$HOME/.local
  fi
  # A relative prefix would be wrong in the PATH.
  case $prefix in
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
  esac
  prefix=${prefix%/}
  if [ "$action" = uninstall ]; then uninstall_pond; else install_pond; fi
}

# A script that was cut short on its way does nothing: this is its last line.
main "$@"
