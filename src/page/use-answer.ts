/** An answer of an operation in a component: asked again when its question changes, the older question aborted. */
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError, ask } from "./api.ts"

export interface Asked<Answer> {
  readonly answer: Answer | undefined
  readonly error: ApiError | undefined
  readonly isLoading: boolean
}

/** `refresh` changes when the same question is worth asking again; the old answer stays until the new one is there. */
export function useAnswer<Answer>(operation: string, input: object | undefined, refresh = 0): Asked<Answer> {
  const [asked, setAsked] = useState<Asked<Answer>>({ answer: undefined, error: undefined, isLoading: true })
  const question = input === undefined ? undefined : JSON.stringify(input)
  useEffect(() => {
    if (question === undefined) return
    const controller = new AbortController()
    setAsked((before) => ({ ...before, isLoading: true }))
    ask<Answer>(operation, JSON.parse(question) as object, controller.signal).then(
      (answer) => setAsked({ answer, error: undefined, isLoading: false }),
      (error: unknown) => {
        if (!controller.signal.aborted)
          setAsked((before) => ({ answer: before.answer, error: toApiError(error), isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [operation, question, refresh])
  return asked
}

interface Page {
  readonly next_cursor?: string
}

export interface Pages<P extends Page> {
  readonly pages: readonly P[]
  readonly isLoading: boolean
  readonly message: string | undefined
  /** Undefined behind the last page. */
  readonly more: (() => void) | undefined
}

/**
 * The first page of an answer, and those behind it as they are asked for. Later pages belong to their question: one that
 * arrives after the question changed, or a second time because somebody clicked twice, is dropped.
 */
export function usePages<P extends Page>(operation: string, question: object, refresh = 0): Pages<P> {
  const { answer, error, isLoading } = useAnswer<P>(operation, question, refresh)
  const key = JSON.stringify(question)
  const [later, setLater] = useState<{ readonly key: string; readonly pages: readonly P[]; readonly failure?: string }>(
    {
      key,
      pages: [],
    },
  )
  const own = later.key === key ? later : { key, pages: [] }
  const pages = answer === undefined ? [] : [answer, ...own.pages]
  const cursor = pages.at(-1)?.next_cursor
  const more = () => {
    ask<P>(operation, { ...question, cursor }).then(
      (page) =>
        setLater((before) => {
          const shown = before.key === key ? before.pages : []
          return shown.length === own.pages.length ? { key, pages: [...shown, page] } : before
        }),
      (thrown: unknown) => setLater({ ...own, failure: toApiError(thrown).message }),
    )
  }
  const message = own.failure ?? error?.message
  return { pages, isLoading, message, more: cursor === undefined ? undefined : more }
}

export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError("internal", String(error))
}

const LIVE_MS = 4000

/** Counts up every few seconds while somebody looks at the page. */
export function useLiveCount(isOn = true): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setCount((before) => before + 1)
    }, LIVE_MS)
    return () => clearInterval(timer)
  }, [isOn])
  return count
}

/** The value once it has not changed for a moment: a search for every letter would answer questions that nobody asked. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Calls `act` for a key that is pressed while nobody types. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector("dialog[open]") !== null) return
      const act = current.current[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable)
}
