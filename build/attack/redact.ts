/**
 * `bun run attack redact`: every shape of a credential in every dress that sessions give it, and every look-alike. Says
 * what was missed and what was taken wrongly.
 */
import { findCredentials } from "../../src/operations/share/find-credentials.ts"
import { createRedactor } from "../../src/operations/share/redact.ts"
import { CREDENTIAL_SHAPES, LOOK_ALIKES } from "../../test/support/credential-shapes.ts"
import type { Chaos, Outcome } from "../lib/outcome.ts"

const DRESSES: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "between lines": (text) => `first\n${text}\nlast`,
  "with Windows lines": (text) => `first\r\n${text.replaceAll("\n", "\r\n")}\r\nlast`,
  coloured: (text) => `\u001b[1m\u001b[32m${text}\u001b[0m`,
  "in JSON": (text) => JSON.stringify({ output: `first\n${text}\nlast` }),
  "in JSON in JSON": (text) => JSON.stringify({ arguments: JSON.stringify({ content: `first\n${text}\n` }) }),
  "in a fence": (text) => `\`\`\`sh\n${text}\n\`\`\``,
  "of a quotation": (text) => text.replaceAll(/^/gm, "> "),
}
/** What may be missed in a dress that is not plain, and taken wrongly in any. */
const FOUND_SHARE = 0.9
const PLAIN_FOUND_SHARE = 92 / 96
const WRONG_MAX = 2

export const attack: Chaos = {
  summary: "credentials in every dress that sessions give them, and what only looks like one",
  run: async function* (): AsyncIterable<Outcome> {
    for (const [name, dress] of Object.entries(DRESSES)) {
      const missed = CREDENTIAL_SHAPES.filter(
        ([, around, secret]) => !isTakenOut(dress(around.replace("%%", () => secret)), secret),
      )
      const share = 1 - missed.length / CREDENTIAL_SHAPES.length
      yield {
        what: `credentials ${name}`,
        isRight: share >= (name === "as it is" ? PLAIN_FOUND_SHARE : FOUND_SHARE),
        found: `${CREDENTIAL_SHAPES.length - missed.length} of ${CREDENTIAL_SHAPES.length}${missed.map(([what]) => `, not ${what}`).join("")}`,
      }
      const wrong = LOOK_ALIKES.filter((text) => isFound(dress(text)))
      yield {
        what: `look-alikes ${name}`,
        isRight: wrong.length <= WRONG_MAX,
        found: `${wrong.length} of ${LOOK_ALIKES.length} taken${wrong.map((text) => `, ${JSON.stringify(text.slice(0, 60))}`).join("")}`,
      }
    }
  },
}

function isFound(text: string): boolean {
  return findCredentials(text).length > 0
}

/** A dozen characters in a row of a credential are too many to leave. */
const LEFT_UNITS_MAX = 12

function isTakenOut(text: string, secret: string): boolean {
  if (!isFound(text)) return false
  const left = createRedactor({}).clean(text)
  for (let from = 0; from + LEFT_UNITS_MAX <= secret.length; from++)
    if (left.includes(secret.slice(from, from + LEFT_UNITS_MAX))) return false
  return true
}
