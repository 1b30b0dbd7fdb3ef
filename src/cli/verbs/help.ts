/** `pond help` and `pond version`; also what `--help` and `--version` print. */
import { PondError } from "../../model/errors.ts"
import { visible } from "../../model/visible.ts"
import { VERSION } from "../../platform/host/version.ts"
import { suggestion } from "../../platform/nearest.ts"
import { NO_FLAGS } from "../flags.ts"
import { findVerb, verbsUnder } from "../frame/parse-arguments.ts"
import { overviewDocument, renderOverview, renderVerbHelp, verbDocument } from "../help/render-help.ts"
import { TOPICS, type Topic, topicNamed } from "../help/topics.ts"
import { defineVerb, type Outcome, type VerbRow } from "../verb.ts"

export const help = defineVerb({
  flags: NO_FLAGS,
  positionals: [{ name: "about", summary: "A verb or a topic.", count: "many" }],
  examples: ["help", "help search", "help storage"],
  run: async ({ verbs, words }) => {
    const topic = topicNamed(words)
    return topic === undefined ? await explain(words, verbs) : await explainTopic(topic, verbs)
  },
})

export const version = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["version"],
  run: () => Promise.resolve(VERSION_OUTCOME),
})

export const VERSION_OUTCOME: Outcome = { document: { version: VERSION }, render: () => `pond ${VERSION}\n` }

/** `pond help search` explains searching, and then the verb; `pond search --help` is the verb alone. */
async function explainTopic(topic: Topic, verbs: readonly VerbRow[]): Promise<Outcome> {
  const row = verbs.find(({ name }) => name === topic.name)
  const verb = row === undefined ? undefined : { row, ...(await row.load()) }
  return {
    document: { topic },
    render: (page) =>
      `${page.style.bold(topic.summary)}\n\n${topic.text}${verb === undefined ? "" : `\n${renderVerbHelp(verb.row, verb, page)}`}`,
  }
}

/** The help of the verb that these words begin with; without words, or of a first word such as `adapters`, a list of verbs. */
export async function explain(
  words: readonly string[],
  verbs: readonly VerbRow[],
  unlisted: readonly VerbRow[] = [],
): Promise<Outcome> {
  const [first = "", ...others] = words.filter((word) => !word.startsWith("-"))
  const below = verbsUnder(first, verbs)
  const isOverview = below.length > 0 && others.length === 0 && !verbs.some(({ name }) => name === first)
  const route = isOverview ? undefined : findExplained(words, first, [...verbs, ...unlisted])
  if (route === undefined) {
    const shown = isOverview ? below : verbs
    return { document: overviewDocument(shown), render: (page) => renderOverview(shown, page) }
  }
  const verb = await route.row.load()
  return { document: verbDocument(route.row, verb), render: (page) => renderVerbHelp(route.row, verb, page) }
}

/** The verb that the words name; none without a word. A word that is neither a verb nor a topic is a mistake. */
function findExplained(words: readonly string[], word: string, verbs: readonly VerbRow[]): ReturnType<typeof findVerb> {
  const names = verbs.map(({ name }) => name.split(" ")[0] ?? name)
  if (word === "" || names.includes(word)) return findVerb(words, verbs)
  const near = suggestion(word, [...names, ...TOPICS.map(({ name }) => name)])
  throw new PondError("validation_failed", `Unknown verb or topic "${visible(word)}".${near} Run pond --help.`, {
    details: { verb: word },
  })
}
