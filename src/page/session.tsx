/** One session: what it is, what can be done with it, a map of it, and its messages as the server renders them. */
import { useEffect, useRef, useState } from "preact/hooks"
import { ask, type Labels, type SessionHead } from "./api.ts"
import { ContinueDialog } from "./continue-dialog.tsx"
import { EraseDialog } from "./erase-dialog.tsx"
import { dateTimeText } from "./format.ts"
import { LabelsDialog } from "./labels-dialog.tsx"
import { Messages } from "./messages.tsx"
import { sessionHref } from "./route.ts"
import { toApiError, useAnswer, useKeys } from "./use-answer.ts"

interface SessionProps {
  readonly id: string
  readonly anchor: string | undefined
}

type Open = "continue" | "labels" | "erase" | undefined

export function Session({ id, anchor }: SessionProps) {
  const { answer: head, error } = useAnswer<SessionHead>("get", { session_id: id, limit: 1 })
  const [labels, setLabels] = useState<Labels>()
  const [open, setOpen] = useState<Open>()
  const [failure, setFailure] = useState<string>()
  const changeLabels = (change: object) => {
    ask<Labels>("label", { session_id: id, ...change }).then(setLabels, (thrown: unknown) =>
      setFailure(toApiError(thrown).message),
    )
  }
  useEffect(() => changeLabels({}), [id])
  const isStarred = labels?.starred === true
  const star = () => changeLabels(isStarred ? { unstar: true } : { star: true })
  useKeys({ u: () => history.back(), s: star, c: () => setOpen("continue") })
  const message = failure ?? error?.message
  return (
    <main class="session">
      {message === undefined ? null : (
        <p class="error" role="alert">
          {message} <a href="#/">All sessions</a>
        </p>
      )}
      {head === undefined ? null : (
        <>
          <Head head={head} labels={labels} />
          <div class="actions">
            <button type="button" onClick={() => setOpen("continue")}>
              Continue…
            </button>
            <button type="button" aria-pressed={isStarred} onClick={star}>
              {isStarred ? "★ Starred" : "☆ Star"}
            </button>
            <button type="button" onClick={() => setOpen("labels")}>
              Labels…
            </button>
            <button type="button" class="danger" onClick={() => setOpen("erase")}>
              Erase…
            </button>
          </div>
        </>
      )}
      {error === undefined ? <Messages id={id} anchor={anchor} /> : null}
      {head === undefined || open !== "continue" ? null : (
        <ContinueDialog session={head.session} onClose={() => setOpen(undefined)} />
      )}
      {labels === undefined || open !== "labels" ? null : (
        <LabelsDialog labels={labels} onChange={changeLabels} onClose={() => setOpen(undefined)} />
      )}
      {open === "erase" ? <EraseDialog id={id} onClose={() => setOpen(undefined)} /> : null}
    </main>
  )
}

interface HeadProps {
  readonly head: SessionHead
  readonly labels: Labels | undefined
}

function Head({ head: { session, title, children }, labels }: HeadProps) {
  const name = labels?.name ?? title ?? "(untitled)"
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${name} · pond`
    return () => {
      document.title = "pond"
    }
  }, [name])
  const agents = children.filter(({ source_agent: agent }) => agent.includes("/"))
  const forks = children.filter(({ source_agent: agent }) => !agent.includes("/"))
  return (
    <header>
      <h1 ref={heading}>{name}</h1>
      <dl>
        <dt>Client</dt>
        <dd>{session.source_agent}</dd>
        <dt>Directory</dt>
        <dd>{session.project}</dd>
        <dt>Begun</dt>
        <dd>{dateTimeText(session.created_at)}</dd>
        <dt>Session</dt>
        <dd>
          <code>{session.id}</code>
        </dd>
        {session.parent_session_id === undefined ? null : (
          <Linked term="Continues" sessions={[{ id: session.parent_session_id }]} />
        )}
        <Linked term="Forks" sessions={forks} />
        <Linked term="Sub-agents" sessions={agents} />
        {labels === undefined || labels.tags.length === 0 ? null : (
          <>
            <dt>Tags</dt>
            <dd>{labels.tags.join(", ")}</dd>
          </>
        )}
        {labels?.note === undefined ? null : (
          <>
            <dt>Note</dt>
            <dd>{labels.note}</dd>
          </>
        )}
      </dl>
    </header>
  )
}

interface LinkedProps {
  readonly term: string
  readonly sessions: readonly { readonly id: string; readonly title?: string }[]
}

function Linked({ term, sessions }: LinkedProps) {
  if (sessions.length === 0) return null
  return (
    <>
      <dt>{term}</dt>
      <dd>
        {sessions.map(({ id, title }, at) => (
          <span key={id}>
            {at === 0 ? null : ", "}
            <a href={sessionHref(id)}>{title ?? id}</a>
          </span>
        ))}
      </dd>
    </>
  )
}
