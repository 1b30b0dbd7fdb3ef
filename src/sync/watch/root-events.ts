/**
 * File system events below the roots. They say where something happened, not what. A root without events (a network
 * file system, too few watches left) is polled instead, and tried again after a while.
 */
import { existsSync, type FSWatcher, statfsSync, statSync, watch } from "node:fs"
import { join } from "node:path"
import type { Log } from "../../platform/host/log.ts"
import { errorCode, isSystemError } from "../../platform/system-error.ts"
import type { ImportSource } from "../import.ts"

export interface RootEvents {
  /** Watches the roots that exist. A watch that broke, or whose root came back, is renewed. */
  follow(sources: readonly ImportSource[], nowMs: number): void
  isBlind(root: string): boolean
  close(): void
}

export interface RootEventsContext {
  readonly log: Log
  /** Called with the path of an event, or without one if anything may have changed. */
  readonly onEvent: (root: string, place: string | undefined) => void
  /** How long to wait before a root without events is tried again. */
  readonly retryMs: number
}

/**
 * File systems on which changes by another machine give no event, although watching seems to work: NFS, SMB and CIFS,
 * 9p (also Windows disks under WSL), FUSE (sshfs), Ceph, AFS, Lustre, shared folders of virtual machines.
 */
const REMOTE_FILE_SYSTEMS = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x65735546, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x786f4256,
])

export function createRootEvents({ log, onEvent, retryMs }: RootEventsContext): RootEvents {
  const watchers = new Map<string, FSWatcher>()
  /** When a root without events is tried again. */
  const blindUntil = new Map<string, number>()
  /** Roots in which a directory came or moved. */
  const renewed = new Set<string>()
  let nowMs = 0

  function drop(root: string): void {
    watchers.get(root)?.close()
    watchers.delete(root)
    onEvent(root, undefined)
  }

  function blind(root: string, why: string): void {
    if (!blindUntil.has(root)) log.info(`${root} sends no change events (${why}): it is checked every second.`)
    blindUntil.set(root, nowMs + retryMs)
  }

  function begin({ adapter, root }: ImportSource): void {
    try {
      const watcher = watch(root, { recursive: true }, (event, name) => {
        if (!existsSync(root)) drop(root)
        else if (typeof name !== "string") onEvent(root, undefined)
        else if (adapter.watching?.concerns(root, name) !== false) {
          onEvent(root, name)
          if (event === "rename" && isDirectory(join(root, name))) renewed.add(root)
        }
      })
      // Some of many watches failed, so the others report only a part. Each try costs a walk of the tree.
      watcher.on("error", (error) => {
        if (watchers.get(root) !== watcher) return
        drop(root)
        blind(root, errorCode(error) ?? "unknown")
      })
      watchers.set(root, watcher)
      onEvent(root, undefined)
    } catch (error) {
      blind(root, errorCode(error) ?? "unknown")
    }
  }

  return {
    follow: (sources, now) => {
      nowMs = now
      for (const source of sources) {
        const { root } = source
        // A directory that was just renamed is sometimes not followed to its new name (1 of 30, measured): begin anew.
        if (renewed.delete(root)) drop(root)
        if (watchers.has(root) || (blindUntil.get(root) ?? Number.NEGATIVE_INFINITY) > now) continue
        if (isRemote(root)) blind(root, "it is on a network file system")
        else begin(source)
      }
    },
    isBlind: (root) => !watchers.has(root),
    close: () => {
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

function isRemote(root: string): boolean {
  try {
    return REMOTE_FILE_SYSTEMS.has(Number(statfsSync(root).type))
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
