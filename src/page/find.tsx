/** Finds words in the messages of a session: those without them are hidden meanwhile. */
import type { RefObject } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { useKeys, useSettled } from "./use-answer.ts"

const TYPING_MS = 150

interface FindProps {
  readonly box: RefObject<HTMLElement | null>
  /** Changes when there are more messages to look at. */
  readonly version: number
}

export function Find({ box, version }: FindProps) {
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState("")
  const [result, setResult] = useState("")
  const settled = useSettled(text, TYPING_MS)
  /** Whether messages are hidden. Most of the time none are, and a page that arrives has none to hide. */
  const isFiltered = useRef(false)
  useKeys({ "/": () => input.current?.focus() })
  useEffect(() => {
    const words = settled.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0 && !isFiltered.current) return
    isFiltered.current = words.length > 0
    const articles = [...(box.current?.querySelectorAll<HTMLElement>("article") ?? [])]
    let found = 0
    for (const article of articles) {
      const said = words.length === 0 ? "" : article.textContent.toLowerCase()
      article.hidden = !words.every((word) => said.includes(word))
      if (!article.hidden) found++
    }
    setResult(words.length === 0 ? "" : `${found} of ${articles.length} messages`)
  }, [settled, version, box])
  return (
    <search class="find">
      <input
        ref={input}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session   ( / )"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key !== "Escape") return
          setText("")
          currentTarget.blur()
        }}
      />
      <output>{result}</output>
    </search>
  )
}
