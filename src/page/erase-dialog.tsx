/** What erasing a session takes with it, then the erasure, which can be taken back. */
import { useState } from "preact/hooks"
import { ask, type ErasePlan } from "./api.ts"
import { Dialog } from "./dialog.tsx"
import { counted } from "./format.ts"
import { toApiError, useAnswer } from "./use-answer.ts"

interface EraseProps {
  readonly id: string
  readonly onClose: () => void
}

export function EraseDialog({ id, onClose }: EraseProps) {
  const { answer, error } = useAnswer<ErasePlan>("erase_sessions", { session_ids: [id], dry_run: true })
  const [erased, setErased] = useState<readonly string[]>()
  const [failure, setFailure] = useState<string>()
  const run = (change: object, then: (plan: ErasePlan) => void) => {
    ask<ErasePlan>("erase_sessions", change).then(then, (thrown: unknown) => setFailure(toApiError(thrown).message))
  }
  const erase = () =>
    run({ session_ids: [id] }, ({ sessions }) => setErased(sessions.map(({ session_id: each }) => each)))
  const undo = () => run({ session_ids: erased ?? [], undo: true }, () => setErased(undefined))
  const message = failure ?? error?.message
  return (
    <Dialog title="Erase this session" onClose={() => (erased === undefined ? onClose() : location.assign("#/"))}>
      {message === undefined ? null : (
        <p class="error" role="alert">
          {message}
        </p>
      )}
      {answer === undefined || erased !== undefined ? null : (
        <>
          <p>
            {counted(answer.sessions.length, "session")} with {counted(answer.messages, "message")} would leave every
            list, search and export, and would not be stored again:
          </p>
          <ul class="plan">
            {answer.sessions.map(({ session_id: each, title, why }) => (
              <li key={each}>
                {title ?? each}{" "}
                {why === "asked" ? null : <small>({why === "child" ? "belongs to it" : "holds a copy of it"})</small>}
              </li>
            ))}
          </ul>
          <p>
            It can be taken back until <code>pond erase --purge</code> removes the bytes for good.
          </p>
          <button type="button" class="danger" onClick={erase}>
            Erase {counted(answer.sessions.length, "session")}
          </button>
        </>
      )}
      {erased === undefined ? null : (
        <p role="status">
          Erased.{" "}
          <button type="button" onClick={undo}>
            Undo
          </button>
        </p>
      )}
    </Dialog>
  )
}
