/**
 * The container image by a container engine: podman builds `Containerfile` and runs what it built. `debian:12-slim` is made
 * by debootstrap, because no registry of images is asked.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Outcome } from "../lib/outcome.ts"
import { served } from "./image.ts"
import { debianRoot } from "./roots.ts"
import { doctorOutcome, mustRun, networkVariables, outcome, run, scratchFolder, type Trial } from "./trial.ts"

const BASE = "docker.io/library/debian:12-slim"
/** crun refuses to start where both versions of cgroups are mounted: the second one is taken away, in a mount namespace. */
const ONE_CGROUP = ["unshare", "--mount", "sh", "-c", 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"', "sh"]
/** The engine's own limits are higher than a root without all capabilities may set. */
const LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]

export const engineTrial: Trial = {
  name: "engine",
  what: "the container image, by podman: build, `doctor` and `serve` in a container, and the volume that outlives it",
  needs: ["podman", "crun", "debootstrap", "unshare", "tar"],
  needsRoot: true,
  async *run(release): AsyncIterable<Outcome> {
    const storage = scratchFolder(release, "containers")
    const places = ["--storage-driver", "vfs", "--root", storage, "--runroot", scratchFolder(release, "run")]
    const podman = [...ONE_CGROUP, "podman", ...places]
    const env = networkVariables()
    const base = join(release.scratch, "base.tar")
    await mustRun(["tar", "-cf", base, "-C", await debianRoot(release.scratch), "."])
    await mustRun([...podman, "import", base, BASE], { env })
    const image = `pond:${release.version}`
    const file = ["--file", join(release.folder, "Containerfile"), "--tag", image, release.folder]
    const built = await run(
      [...podman, "build", "--isolation", "chroot", "--network", "host", "--pull=never", ...file],
      {
        env,
      },
    )
    yield outcome("podman build", built.code === 0, built.out)
    if (built.code !== 0) return
    const inside = [...podman, "run", "--rm", "--network", "host", ...LIMITS, "--volume", "pond:/home/pond", image]
    const said = await run([...inside, "--version"], { env })
    yield outcome("podman run: pond --version", said.out.endsWith(`pond ${release.version}\n`), said.out)
    yield await doctorOutcome("podman run", inside, { env })
    yield await served([...inside, "serve", "--host", "0.0.0.0", "--port", "0"], env)
    const token = join(storage, "volumes/pond/_data/.local/state/pond/token")
    yield outcome("the volume keeps the token", existsSync(token), token.slice(storage.length))
    const shell = await run([...podman, "run", "--rm", ...LIMITS, "--entrypoint", "/bin/sh", image, "-c", "true"], {
      env,
    })
    yield outcome("there is no shell in it", shell.code === 127, shell.out)
  },
}
