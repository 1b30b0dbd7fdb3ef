/** How a session goes on in a client: the command to copy, and what another client would lose, before anything is written. */
import { useState } from "preact/hooks"
import { pondCommand } from "../platform/process/shell-word.ts"
import type { RestorePlan, SessionHead, SessionPage } from "./api.ts"
import { Dialog } from "./dialog.tsx"
import { counted } from "./format.ts"
import { useAnswer } from "./use-answer.ts"

interface ContinueProps {
  readonly session: SessionHead["session"]
  readonly onClose: () => void
}

export function ContinueDialog({ session, onClose }: ContinueProps) {
  const own = session.source_agent.split("/")[0] ?? ""
  const [target, setTarget] = useState(own)
  const clients = useAnswer<SessionPage>("sessions", { limit: 1, facets: true }).answer?.facets?.clients ?? []
  const targets = [...new Set([own, ...clients.map(({ key }) => key)])]
  const { answer, error, isLoading } = useAnswer<RestorePlan>("restore_plan", { session_id: session.id, to: target })
  const command = pondCommand("resume", session.id, target === own ? {} : { to: target })
  return (
    <Dialog title="Continue this session" onClose={onClose}>
      <label>
        In
        <select value={target} onChange={({ currentTarget }) => setTarget(currentTarget.value)}>
          {targets.map((client) => (
            <option key={client} value={client}>
              {client}
            </option>
          ))}
        </select>
      </label>
      <p>Run this in a terminal. It writes the session into the client and starts it there:</p>
      <Command text={command} />
      <div aria-busy={isLoading}>
        {error === undefined ? null : (
          <p class="error" role="alert">
            {error.message}
          </p>
        )}
        {isLoading ? <p class="status">Working out what would be written…</p> : null}
        {answer === undefined || isLoading ? null : <Plan plan={answer} />}
      </div>
    </Dialog>
  )
}

function Command({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <p class="command">
      <code>{text}</code>
      <button type="button" onClick={copy}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </p>
  )
}

function Plan({ plan: { files, losses, fidelity } }: { readonly plan: RestorePlan }) {
  return (
    <>
      <p>
        Writes {counted(files.length, "file")}
        {fidelity === "native" ? ", exactly as the client recorded them." : " in the format of that client."}
      </p>
      {losses.length === 0 ? (
        <p>Nothing is lost.</p>
      ) : (
        <>
          <h3>Lost on the way</h3>
          <ul>
            {losses.map(({ kind, count, example }) => (
              <li key={kind}>
                {count} × {kind.replaceAll("_", " ")} <small>{example}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
