/** A thread for `threads.test.ts`: answers, says that it failed, throws, ends at once, or says nothing. */
import process from "node:process"

declare const self: {
  onmessage: ((event: { readonly data: string }) => void) | null
  postMessage(answer: unknown): void
}

self.onmessage = ({ data }) => {
  if (data === "fail") self.postMessage({ said: "failed", reason: "asked to" })
  else if (data === "throw") throw new Error("thrown")
  else if (data === "end") process.exit(3)
  else if (data !== "wait") self.postMessage({ said: data })
}
self.postMessage({ said: "ready" })
