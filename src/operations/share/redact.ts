/**
 * Takes out what looks like a credential, for a text that leaves the machine. It knows forms, and the values of this
 * machine's own variables; a password that is an ordinary word it cannot know, and the user is told so.
 */
import type { Environment } from "../../platform/host/environment.ts"
import type { CredentialForm } from "./credential-forms.ts"
import { findCredentials } from "./find-credentials.ts"

export interface Redactor {
  readonly clean: (text: string) => string
  /** How many places of each kind were replaced so far. */
  readonly replaced: () => readonly Replaced[]
}

export interface Replaced {
  readonly kind: string
  readonly count: number
}

const HOME = "home directory"

export function createRedactor(environment: Environment): Redactor {
  const counts = new Map<string, number>()
  const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const literals = secretVariables(environment)
  const variables = literals.length === 0 ? undefined : variablesForm(literals)
  const home = homePattern(environment["HOME"])
  return {
    clean: (text) => {
      let cleaned = ""
      let end = 0
      for (const { kind, from, to } of findCredentials(text, variables)) {
        count(kind)
        cleaned += `${text.slice(end, from)}[redacted: ${kind}]`
        end = to
      }
      cleaned += text.slice(end)
      if (home === undefined) return cleaned
      return cleaned.replace(home, () => {
        count(HOME)
        return "~"
      })
    },
    replaced: () => [...counts].map(([kind, places]) => ({ kind, count: places })),
  }
}

// --- What this machine itself knows ----------------------------------------------------------------------------------

const NAMES_SECRET = /TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)|API_?KEY|(?:ACCESS|PRIVATE|AUTH)_?KEY|CREDENTIAL/i
const SECRET_UNITS_MIN = 8

/**
 * The longest first, as one may be the beginning of another, and each also as JSON spells it. A path, a number and a word
 * are no secrets.
 */
function secretVariables(environment: Environment): string[] {
  const values = Object.entries(environment).flatMap(([name, value]) => {
    const isSecret = NAMES_SECRET.test(name) && value !== undefined && value.length >= SECRET_UNITS_MIN
    return isSecret && !/^(?:[/~.].*|[a-z]+|\d+)$/i.test(value) ? [value, JSON.stringify(value).slice(1, -1)] : []
  })
  return [...new Set(values)].sort((left, right) => right.length - left.length)
}

function variablesForm(values: readonly string[]): CredentialForm {
  const spelled = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return { kind: "value of an environment variable", pattern: new RegExp(spelled.join("|"), "g") }
}

/** The home directory names its owner. Everything that lies below it is told as well with `~`. */
function homePattern(home: string | undefined): RegExp | undefined {
  if (home === undefined || !/^\/.+\/?.+/.test(home)) return undefined
  const spelled = home.replace(/\/+$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return new RegExp(String.raw`(?<![\w.-])${spelled}(?![\w-]|\.\w)`, "g")
}
