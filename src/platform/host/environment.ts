/**
 * The one reader of the process environment. Everything else takes an `Environment`, so that a test can say what it
 * holds, and so that nothing picks up a variable by accident.
 */
export type Environment = Readonly<Record<string, string | undefined>>

export function processEnvironment(): Environment {
  return process.env
}
