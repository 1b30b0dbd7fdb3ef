/** A modal window of the browser's own kind: it keeps the keyboard inside, and Escape closes it. */
import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const name = useId()
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog ref={ref} aria-labelledby={name} onClose={onClose}>
      <header>
        <h2 id={name}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => ref.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
