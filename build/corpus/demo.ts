/** A few small sessions as Claude Code leaves them on a disk: something to search on a machine that has none. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

type Turn = readonly [role: "user" | "assistant", text: string]

const SESSIONS: readonly { readonly project: string; readonly day: string; readonly turns: readonly Turn[] }[] = [
  {
    project: "/home/you/shop",
    day: "2026-01-12",
    turns: [
      ["user", "The database migration fails on staging with ENOENT: schema.sql. Locally it works. Why?"],
      [
        "assistant",
        "Staging builds the image without the migrations folder: .dockerignore lists *.sql. I add an exception for migrations/ and the next build has the file.",
      ],
      ["user", "Good. And why did the health check not notice?"],
      [
        "assistant",
        "It only asks whether the port is open. I changed checkReadiness() in src/health.ts so that it also compares the schema version.",
      ],
    ],
  },
  {
    project: "/home/you/shop",
    day: "2026-01-20",
    turns: [
      ["user", "Orders are sometimes charged twice. Find out how that can happen."],
      [
        "assistant",
        "chargeCustomer retries after a timeout without an idempotency key, so a slow answer becomes a second charge. I pass the order id as the key; the test retries_do_not_charge_twice shows it.",
      ],
    ],
  },
  {
    project: "/home/you/blog",
    day: "2026-02-03",
    turns: [
      ["user", "Move the blog from Webpack to Vite, and keep the old image URLs."],
      [
        "assistant",
        "Done. The old paths under /static/img are kept by an alias, and a redirect covers what search engines still have.",
      ],
    ],
  },
]

/** The first eight characters of each id are its own, as they are of random ones. */
const REST_OF_ID = "-0000-4000-8000-000000000000"

export function writeDemo(home: string): void {
  for (const [number, { project, day, turns }] of SESSIONS.entries()) {
    const sessionId = `de30000${number}${REST_OF_ID}`
    const lines = turns.map(([role, text], index) => line({ sessionId, project, role, text, index, day }))
    const path = join(home, ".claude/projects", project.replaceAll("/", "-"), `${sessionId}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${lines.join("\n")}\n`)
  }
}

interface Line {
  readonly sessionId: string
  readonly project: string
  readonly role: Turn[0]
  readonly text: string
  readonly index: number
  readonly day: string
}

function line({ sessionId, project, role, text, index, day }: Line): string {
  const uuid = (at: number) => `de3${sessionId[7]}1${String(at).padStart(3, "0")}${REST_OF_ID}`
  return JSON.stringify({
    parentUuid: index === 0 ? null : uuid(index - 1),
    isSidechain: false,
    userType: "external",
    cwd: project,
    sessionId,
    version: "2.1.0",
    type: role,
    message:
      role === "user"
        ? { role, content: text }
        : { role, id: `msg_${index}`, type: "message", model: "demo", content: [{ type: "text", text }] },
    uuid: uuid(index),
    timestamp: `${day}T10:0${index}:00.000Z`,
  })
}
