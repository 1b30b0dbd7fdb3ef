/** What is said where the installed client is older than the one that wrote a session. */
import { visibleLine } from "../../model/visible.ts"
import { olderClient } from "../../operations/machine/installed-version.ts"
import type { planRestoreOf } from "../../operations/machine/restore.ts"
import type { Pond } from "../../operations/pond.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"

export async function warnOfOlderClient(
  pond: Pond,
  plan: Awaited<ReturnType<typeof planRestoreOf>>,
  sessionId: string,
): Promise<void> {
  const older = await olderClient(pond, plan)
  if (older === undefined) return
  const { title } = plan.target
  const said = `${title} ${older.installed} is installed, but ${older.wrote} wrote this session: it may ignore what it does not support.`
  const anew = `\`${pondCommand("resume", sessionId)} --anew\` writes a new session that it can read completely.`
  pond.host.log.warn(visibleLine(`${said} Update it, or ${anew}`))
}
