/** The page at `/` of a server: a client of its published operations and nothing else. */
import { render } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Activity } from "./activity.tsx"
import { saveToken, takeTokenFromAddress } from "./api.ts"
import { Help } from "./help.tsx"
import { List } from "./list.tsx"
import { routeOf } from "./route.ts"
import { Session } from "./session.tsx"
import { useAnswer, useKeys } from "./use-answer.ts"

function App() {
  const [hash, setHash] = useState(location.hash)
  const [attempt, setAttempt] = useState(0)
  const [isHelpOpen, setHelpOpen] = useState(false)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener("hashchange", onChange)
    return () => removeEventListener("hashchange", onChange)
  }, [])
  const { answer, error } = useAnswer<{ readonly store: string }>("status", {}, attempt)
  useKeys({
    "?": () => setHelpOpen(true),
    l: () => location.assign("#/"),
    a: () => location.assign("#/activity"),
  })
  if (error?.code === "unauthorized") return <SignIn onToken={() => setAttempt(attempt + 1)} isWrong={attempt > 0} />
  const route = routeOf(hash)
  return (
    <>
      <nav class="bar" aria-label="pond">
        <a class="home" href="#/">
          pond
        </a>
        <a href="#/" aria-current={route.view === "list" ? "page" : undefined}>
          Sessions
        </a>
        <a href="#/activity" aria-current={route.view === "activity" ? "page" : undefined}>
          Activity
        </a>
        <span class="store">{answer?.store}</span>
        <button type="button" class="quiet" aria-label="Keyboard shortcuts" onClick={() => setHelpOpen(true)}>
          ?
        </button>
      </nav>
      {error === undefined ? null : (
        <p class="error" role="alert">
          {error.message}
        </p>
      )}
      {route.view === "list" ? <List params={route.params} /> : null}
      {route.view === "session" ? <Session key={route.id} id={route.id} anchor={route.anchor} /> : null}
      {route.view === "activity" ? <Activity /> : null}
      {isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null}
    </>
  )
}

interface SignInProps {
  readonly isWrong: boolean
  readonly onToken: () => void
}

function SignIn({ isWrong, onToken }: SignInProps) {
  const [token, setToken] = useState("")
  const submit = (event: Event) => {
    event.preventDefault()
    saveToken(token)
    onToken()
  }
  return (
    <main class="sign-in">
      <h1>pond</h1>
      <p>
        This server asks for its token. <code>pond open</code> opens this page with it, and <code>pond serve</code>{" "}
        prints where it is kept.
      </p>
      <form onSubmit={submit}>
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <button type="submit">Open</button>
      </form>
      {isWrong ? (
        <p class="error" role="alert">
          This is not the token of this server.
        </p>
      ) : null}
    </main>
  )
}

takeTokenFromAddress()
const root = document.getElementById("app")
if (root !== null) render(<App />, root)
