/**
 * The messages of a session, page by page as the server renders them: the first ones show while the others come. Their HTML
 * comes from the server's own renderer, which takes no text of a session for markup, and the policy of this page runs
 * nothing that stands in it. What is new is appended every few seconds; a page that is not full is rendered again, because
 * a call on it may have its result by now.
 */
import { useEffect, useRef, useState } from "preact/hooks"
import { ask, type MapPoint, type RenderedPage } from "./api.ts"
import { Find } from "./find.tsx"
import { dateTimeText } from "./format.ts"
import { SessionMap } from "./session-map.tsx"
import { toApiError, useKeys, useLiveCount } from "./use-answer.ts"

const FIRST_PAGE = 60
const PAGE = 400
/** About the height of a message: of pages that nobody has seen yet, the browser lays out nothing but their height. */
const MESSAGE_PIXELS = 90

interface Shown {
  /** What this page begins behind; undefined for the first one. */
  readonly after: string | undefined
  readonly page: RenderedPage
}

interface MessagesProps {
  readonly id: string
  readonly anchor: string | undefined
}

export function Messages({ id, anchor }: MessagesProps) {
  const [shown, setShown] = useState<readonly Shown[]>([])
  const [failure, setFailure] = useState<string>()
  const isWhole = shown.at(-1)?.page.messages_remaining === 0
  const live = useLiveCount(isWhole)
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const controller = new AbortController()
    readPages(id, undefined, controller.signal, (each) => setShown((before) => [...before, each])).catch(
      (thrown: unknown) => {
        if (!controller.signal.aborted) setFailure(toApiError(thrown).message)
      },
    )
    return () => controller.abort()
  }, [id])

  useEffect(() => {
    const last = shown.at(-1)
    if (live === 0 || last === undefined) return
    const controller = new AbortController()
    followSession(id, last, controller.signal).then(
      (fresh) => {
        setFailure(undefined)
        if (fresh.length > 0) setShown((before) => [...before.slice(0, -1), ...fresh])
      },
      (thrown: unknown) => {
        if (!controller.signal.aborted) setFailure(toApiError(thrown).message)
      },
    )
    return () => controller.abort()
    // Only time asks for more.
  }, [live])

  // Of the newest page alone: to go through all of them for each page took longer with every page.
  useEffect(() => showLocalTimes(box.current?.lastElementChild), [shown])
  const isThere = useScrollTo(anchor, shown.length)
  useKeys({
    j: () => moveTo(box.current, 1),
    k: () => moveTo(box.current, -1),
    e: () => foldAll(box.current),
  })
  const points: readonly MapPoint[] = shown.flatMap(({ page }) => page.map)
  const remaining = shown.at(-1)?.page.messages_remaining
  return (
    <>
      <SessionMap id={id} points={points} />
      <Find box={box} version={shown.length} />
      <h2 class="unseen">Messages</h2>
      <div ref={box} class="messages" aria-busy={!isWhole}>
        {shown.map(({ after, page }) => (
          <div
            key={after ?? ""}
            style={{ containIntrinsicSize: `auto ${page.map.length * MESSAGE_PIXELS}px` }}
            dangerouslySetInnerHTML={{ __html: page.html }}
          />
        ))}
      </div>
      {failure === undefined ? null : (
        <p class="error" role="alert">
          {failure}
        </p>
      )}
      <p class="status" role="status">
        {statusText(remaining, points.length, anchor !== undefined && !isThere)}
      </p>
    </>
  )
}

function statusText(remaining: number | undefined, shown: number, isAnchorMissing: boolean): string {
  if (remaining === undefined) return "Reading…"
  if (remaining > 0) return `${remaining} more messages are coming…`
  if (shown === 0) return "Nobody said anything in this session."
  return isAnchorMissing ? "The message at this address has nothing to show." : ""
}

async function readPages(
  id: string,
  from: string | undefined,
  signal: AbortSignal,
  show: (shown: Shown) => void,
): Promise<void> {
  let after = from
  for (let limit = FIRST_PAGE; ; limit = PAGE) {
    const page = await renderPage(id, after, limit, signal)
    show({ after, page })
    if (page.messages_remaining === 0 || page.next_after_id === undefined) return
    after = page.next_after_id
  }
}

/** Nothing if nothing was said since; else the last page again and those behind it. */
async function followSession(id: string, last: Shown, signal: AbortSignal): Promise<readonly Shown[]> {
  const next = last.page.next_after_id
  if (next !== undefined) {
    const { html, next_after_id: newer } = await renderPage(id, next, 1, signal)
    if (html === "" && newer === undefined) return []
  }
  const pages: Shown[] = []
  await readPages(id, last.after, signal, (each) => pages.push(each))
  return pages
}

function renderPage(id: string, after: string | undefined, limit: number, signal: AbortSignal): Promise<RenderedPage> {
  const from = after === undefined ? {} : { after_id: after }
  return ask<RenderedPage>("render", { session_id: id, limit, include_subagents: true, ...from }, signal)
}

/** To the message of the address, once it is there. */
function useScrollTo(anchor: string | undefined, pages: number): boolean {
  const [reached, setReached] = useState<string>()
  useEffect(() => {
    if (anchor === undefined || reached === anchor) return
    const message = document.getElementById(anchor)
    if (message === null) return
    setReached(anchor)
    for (const old of document.querySelectorAll("article.chosen")) old.classList.remove("chosen")
    message.classList.add("chosen")
    message.closest("details")?.setAttribute("open", "")
    message.scrollIntoView({ block: "start" })
  }, [anchor, pages, reached])
  return reached === anchor
}

/** The server does not know where its reader is. */
function showLocalTimes(box: Element | null | undefined): void {
  for (const time of box?.querySelectorAll<HTMLTimeElement>("time[datetime]:not([data-local])") ?? []) {
    time.dataset["local"] = ""
    time.textContent = dateTimeText(time.dateTime)
  }
}

function moveTo(box: HTMLElement | null, step: number): void {
  const articles = [...(box?.querySelectorAll<HTMLElement>("article:not([hidden])") ?? [])]
  const edge = 80
  const tops = articles.map((article) => article.getBoundingClientRect().top)
  const at = step > 0 ? tops.findIndex((top) => top > edge + 1) : tops.findLastIndex((top) => top < edge - 1)
  articles[at]?.scrollIntoView({ block: "start" })
}

function foldAll(box: HTMLElement | null): void {
  const all = [...(box?.querySelectorAll("details") ?? [])]
  const isOpening = all.some(({ open }) => !open)
  for (const details of all) details.open = isOpening
}
