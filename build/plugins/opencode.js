/**
 * pond as a plugin of opencode: put it into ~/.config/opencode/plugins/. It asks `pond hook` as the hooks of other clients
 * do, and adds what it says to a prompt as a part of its own, which opencode marks as not typed by the person.
 */
import { spawn } from "node:child_process"

const COMMAND = process.env.POND_COMMAND ?? "pond"
const PATIENCE_MS = 5_000

function ask(event, payload) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND, ["hook", event, "--client", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const patience = setTimeout(() => child.kill(), PATIENCE_MS)
    let said = ""
    child.stdout.on("data", (chunk) => {
      said += chunk
    })
    const end = () => {
      clearTimeout(patience)
      try {
        resolve(JSON.parse(said).hookSpecificOutput.additionalContext)
      } catch {
        resolve(undefined)
      }
    }
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => undefined)
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Pond = async ({ directory }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
    const last = parts.at(-1)
    if (typed.length === 0 || last === undefined) return
    const prompt = typed.map((part) => part.text).join("\n")
    const text = await ask("prompt", { session_id: sessionID, cwd: directory, prompt })
    if (text === undefined) return
    parts.push({ id: `${last.id}p`, sessionID, messageID: message.id, type: "text", text, synthetic: true })
  },
  "experimental.session.compacting": async ({ sessionID }) => {
    await ask("pre-compact", { session_id: sessionID, cwd: directory })
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    await ask("session-end", { session_id: event.properties.sessionID, cwd: directory })
  },
})
