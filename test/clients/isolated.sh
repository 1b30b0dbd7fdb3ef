#!/bin/bash
# isolated.sh HOME CWD LOG [NAME=VALUE...] COMMAND...
# Runs a client where nothing but the loopback is a network, no home is to be seen but HOME, the environment is empty, and
# the scripted model answers on 127.0.0.1:8484. What the model was asked goes to LOG. Needs Linux, unshare and ip.
# From the caller: CLIENTS_ROOT, BUN, MODEL, TIMEOUT_S and LINGER_S, and in SEEN (separated by colons) the directories
# that stay to be seen although they lie in the real home.
set -u
if [ "${INSIDE:-}" != 1 ]; then
  as=(); [ "$(id -u)" = 0 ] || as=(--map-root-user)
  exec env INSIDE=1 unshare "${as[@]}" --net --mount --pid --fork --mount-proc --kill-child bash "$0" "$@"
fi
home=$1 cwd=$2 log=$3; shift 3
ip link set lo up
mount --make-rprivate /

# A tmpfs holds the directories that are needed while others are covered: it goes away with the namespace.
mount -t tmpfs none /mnt
IFS=: read -ra seen <<<"${SEEN:-}"
for at in "${!seen[@]}"; do mkdir "/mnt/$at"; mount --bind "${seen[$at]}" "/mnt/$at"; done
real=$(getent passwd "$(id -ru)" | cut -d: -f6)
for covered in "$real" "${HOME:-}"; do [ -d "$covered" ] && [ "$covered" != / ] && mount -t tmpfs none "$covered"; done
for at in "${!seen[@]}"; do mkdir -p "${seen[$at]}"; mount --bind "/mnt/$at" "${seen[$at]}"; done

# Sessions name absolute paths: no other home may be found by one.
mkdir -p "$home" /mnt/home "$cwd"; mount --bind "$home" /mnt/home
for covered in "$CLIENTS_ROOT/homes" "$CLIENTS_ROOT/out"; do [ -d "$covered" ] && mount -t tmpfs none "$covered"; done
mkdir -p "$home"; mount --bind /mnt/home "$home"

cd "$cwd" || exit 99
exec 3< <(exec env -i PATH=/usr/bin:/bin MODEL_LOG="$log" MODEL_CWD="$cwd" "$BUN" "$MODEL" 2>>"$log.err")
read -r -t 30 _ <&3 || { echo "The scripted model did not start: see $log.err" >&2; exit 98; }
env -i HOME="$home" PATH="$CLIENTS_ROOT/bin:/usr/bin:/bin" LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=xterm TZ=UTC NO_COLOR=1 \
  USER=dev LOGNAME=dev SHELL=/bin/bash TMPDIR=/tmp timeout -k 5 "${TIMEOUT_S:-120}" env "$@"
code=$?
# What a client asks when it is done, for a title or in the name of a sub-agent.
sleep "${LINGER_S:-0.2}"
exit "$code"
