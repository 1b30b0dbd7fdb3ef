/**
 * Scripted sessions of coding agents, each with five questions of somebody who remembers it: a half-remembered error, a
 * file or symbol, "the session where …", what was decided in other words, and the same in another language. The
 * questions were written from memory of a session and not from its words.
 */
export type QuestionKind = "error" | "name" | "session" | "paraphrase" | "language"

export const QUESTION_KINDS: readonly QuestionKind[] = ["error", "name", "session", "paraphrase", "language"]

export interface KnownItem {
  readonly id: string
  readonly project: string
  /** In turn of a person and of the agent. */
  readonly said: readonly string[]
  readonly questions: Readonly<Record<QuestionKind, string>>
}

export const KNOWN_ITEMS: readonly KnownItem[] = [
  {
    id: "retry-storm",
    project: "/home/dev/work/gateway",
    said: [
      "Last night the payment gateway sent about nine thousand requests in a minute to the provider. Can you find out why?",
      "The client in `src/outbound/client.ts` tries again at once when a call times out, and every instance does so at the same moment. There is neither a delay nor a limit.",
      "What would you do about it?",
      "Wait longer after each failure, add a random part so that the instances do not march in step, and stop after five attempts. I would also open a circuit breaker once half of the calls of a minute fail.",
      "Do it, but leave the breaker out. We had one and nobody understood it.",
      "Done: `backoffWithJitter` in `src/outbound/backoff.ts`, five attempts, no breaker. The tests use a fake clock.",
    ],
    questions: {
      error: "provider flooded with requests after timeouts",
      name: "backoffWithJitter",
      session: "the session where we found out why the provider got so many calls in one night",
      paraphrase: "why did we decide against cutting off a failing dependency automatically",
      language: "warum wartet der Client nach einem Fehler zufällig lange",
    },
  },
  {
    id: "timezone-report",
    project: "/home/dev/work/reports",
    said: [
      "The daily sales report of our Lisbon shop shows orders of the day before. Only since Sunday.",
      "On Sunday the clocks changed. `groupByDay` in `reports/daily.py` adds a fixed offset of one hour to the UTC timestamps instead of using the zone of the shop.",
      "So what is the right way?",
      "Store moments in UTC as now, keep an IANA zone for each shop, and convert at the edge when the report is made. I would never store local times.",
      "Agreed. Please also write down for the others that local times are not to be stored.",
      "I added the zone column with a migration, changed `groupByDay`, and wrote a note in docs/time.md.",
    ],
    questions: {
      error: "orders appear under the previous day in the report",
      name: "groupByDay daily.py",
      session: "the session where daylight saving broke a report",
      paraphrase: "what did we agree on about keeping wall clock values in the database",
      language: "¿por qué el informe diario mostraba pedidos del día anterior?",
    },
  },
  {
    id: "flaky-upload",
    project: "/home/dev/work/media",
    said: [
      "CI fails about once in ten runs: `Error: socket hang up (ECONNRESET)` in upload.spec.ts. It never fails on my laptop.",
      "The test server is closed in afterEach while the last multipart request is still being read. On a slow runner the request loses that race.",
      "Can't we just raise the timeout?",
      "That would hide it. The server has to drain before it closes: stop listening, wait until the open requests have ended, then close the sockets.",
      "OK, do that then.",
      "I wrote `drainAndClose` in test/helpers/server.ts, and ran the suite 200 times on one core: no failure.",
    ],
    questions: {
      error: "socket hang up ECONNRESET in the upload tests",
      name: "drainAndClose",
      session: "the session about the test that only broke on the build machine",
      paraphrase: "shutting down gracefully instead of giving the tests more time",
      language: "le test d'envoi de fichiers échoue de temps en temps seulement sur l'intégration continue",
    },
  },
  {
    id: "search-index-size",
    project: "/home/dev/work/catalog",
    said: [
      "The trigram index on product descriptions is 14 GB, and the table itself is 6 GB. Is that normal?",
      "For trigrams it is. But nobody searches inside words here: I looked at a week of queries, and 97 % are whole words.",
      "What do we lose if we drop it?",
      "Matches in the middle of a word, and some tolerance for typing errors. A full-text index with the simple dictionary would be 900 MB.",
      "Customers do mistype brand names a lot.",
      "Then keep trigrams on the brand column only, 40 MB, and use full text for the descriptions.",
      "Good compromise. Go ahead.",
    ],
    questions: {
      error: "index more than twice as large as the table",
      name: "trigram index brand column",
      session: "the session where we made the product lookup need much less disk",
      paraphrase: "how do we still cope with misspelled manufacturers after shrinking the lookup structure",
      language: "Jak zmniejszyliśmy indeks opisów produktów",
    },
  },
  {
    id: "secrets-in-logs",
    project: "/home/dev/work/auth",
    said: [
      "A customer found her own password in a log file that support had sent her.",
      "The request logger writes the whole body when validation fails. `logInvalid` in middleware/validate.go has no filter.",
      "How bad is it?",
      "Every sign-up with a malformed mail address since March: 312 lines in the logs that we keep. They have to be deleted, those people must be told, and their passwords reset.",
      "I'll inform legal. Make it impossible to happen again.",
      "Bodies are no longer written at all; a test greps the log output of the whole suite for a canary password. The old lines are purged.",
    ],
    questions: {
      error: "request body written when validation fails",
      name: "logInvalid validate.go",
      session: "the session about credentials that leaked into files which support handed out",
      paraphrase: "how many people did we have to notify because of what we recorded by mistake",
      language: "客户的密码出现在日志里，我们做了什么",
    },
  },
  {
    id: "monorepo-build",
    project: "/home/dev/work/platform",
    said: [
      "A change of one README triggers 45 minutes of builds. Everybody hates it.",
      "Each package declares the root folder as its input, so any file of it invalidates every cache entry.",
      "Would moving to Bazel help?",
      "It would, after some months of work. Narrow inputs give you most of it now: list src and package.json per package, and leave documentation out.",
      "Let's not switch the tool then.",
      "With narrow inputs a README change builds nothing, and a change of the shared library 11 minutes. I changed turbo.json and documented the rule.",
    ],
    questions: {
      error: "all cache entries invalid after a documentation change",
      name: "turbo.json inputs",
      session: "the session where we sped up continuous integration of the big repository",
      paraphrase: "reason for staying with our current task runner",
      language: "por que não trocamos a ferramenta de build",
    },
  },
  {
    id: "memory-leak",
    project: "/home/dev/work/dashboard",
    said: [
      "The dashboard tab takes 3 GB after a day on the wall screen, and then the browser kills it.",
      "Each refresh of the chart registers a resize listener on window and never removes it; the closures keep every old data set alive.",
      "How did you see that?",
      "Two heap snapshots an hour apart: 720 detached canvases, each retained by a listener. It is `useChart` in hooks/useChart.tsx, the cleanup function returns too early.",
      "Fix it please, and tell me how we notice such things earlier.",
      "Fixed. I added a test that mounts and unmounts the chart a thousand times and compares the number of listeners.",
    ],
    questions: {
      error: "tab killed by the browser, detached canvases",
      name: "useChart.tsx",
      session: "the session about the screen on the wall that died every day",
      paraphrase: "how do we catch growing consumption of the front end before users see it",
      language: "Почему вкладка с графиками занимает гигабайты памяти",
    },
  },
  {
    id: "locking-choice",
    project: "/home/dev/work/booking",
    said: [
      "Two guests booked the same room on Friday. Both got a confirmation.",
      "The availability check and the insert are two statements without a transaction around them. Two requests can pass the check before either of them inserts.",
      "Should we lock the table?",
      "An exclusion constraint is better: Postgres itself then refuses overlapping ranges for one room, whatever the application does. A lock would make all bookings wait for each other.",
      "What does the second guest see?",
      "SQLSTATE 23P01, which the API turns into 409 and the page into: somebody was faster. I wrote the migration with `EXCLUDE USING gist`.",
    ],
    questions: {
      error: "SQLSTATE 23P01",
      name: "EXCLUDE USING gist",
      session: "the session where the same room was given to two people",
      paraphrase: "letting the database itself forbid double reservations rather than serialising everybody",
      language: "zwei Gäste haben dasselbe Zimmer bekommen",
    },
  },
  {
    id: "cache-headers",
    project: "/home/dev/work/shopfront",
    said: [
      "After a release half of the users see a white page until they reload by hand.",
      "index.html is cached for an hour by the CDN and names chunks of the old release, which the deployment deletes. The console says ChunkLoadError.",
      "What is the simplest thing that works?",
      "Never cache index.html, cache the hashed chunks for ever, and keep the chunks of the last three releases on the server.",
      "And people who have the page open during a release?",
      "They keep running with the old chunks, because those stay. `deploy/upload.sh` no longer deletes, and a weekly job cleans up.",
    ],
    questions: {
      error: "ChunkLoadError after deployment",
      name: "deploy/upload.sh",
      session: "the session about blank screens right after we ship",
      paraphrase: "why do we leave previous assets on the server for a while",
      language: "पुरानी फ़ाइलें सर्वर पर क्यों रखते हैं रिलीज़ के बाद",
    },
  },
  {
    id: "queue-order",
    project: "/home/dev/work/ledger",
    said: [
      "Some accounts have a negative balance for a few seconds. The nightly check complains about 40 of them.",
      "The withdrawal is handled before the deposit that came first: the consumers share one queue, and nothing keeps the messages of an account in order.",
      "Do we need order for everything?",
      "Only within an account. Partition by account number: one consumer handles all messages of an account, and different accounts still run side by side.",
      "What about the ones that are in the queue right now?",
      "Stop the producers, let the old queue run empty, then start with the partitioned one. It took four minutes in staging. `partitionKey` is in ledger/publish.kt.",
    ],
    questions: {
      error: "nightly check complains about balances below zero",
      name: "partitionKey publish.kt",
      session: "the session where money went out before it had come in",
      paraphrase: "how did we plan the switch-over without losing what was still waiting",
      language: "comment garantir l'ordre des opérations d'un même compte",
    },
  },
]
