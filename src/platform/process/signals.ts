/** Signals that ask the process to end. One listener at a time; closing it restores the default. */
const ASKED_TO_END = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Calls back with the exit code that the shell expects of a process ended by that signal. */
export type ListenForEnd = (listener: (exitCode: number) => void) => () => void

export const listenForEnd: ListenForEnd = (listener) => {
  const listeners = Object.entries(ASKED_TO_END).map(
    ([signal, exitCode]) => [signal, () => listener(exitCode)] as const,
  )
  for (const [signal, onSignal] of listeners) process.on(signal, onSignal)
  return () => {
    for (const [signal, onSignal] of listeners) process.off(signal, onSignal)
  }
}
