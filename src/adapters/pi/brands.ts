/**
 * pi, and what is made of it: one codec, and what differs. oh-my-pi keeps sessions and its large pictures in two folders,
 * calls what changed hands otherwise, and has further entries. OpenClaw keeps its lines in a database, has a list of its
 * sessions, and puts what it knows of a conversation around the words of a person.
 */
import type { Environment } from "../../platform/host/environment.ts"
import type { Placed } from "../extract.ts"
import type { PartDraft } from "../parts.ts"
import { piecesOfText, userTexts } from "./openclaw-provenance.ts"
import { ohMyPiRoots, openclawRoots, roots } from "./roots.ts"

export interface Brand {
  readonly id: string
  readonly title: string
  /** The program that a person types, and how it is told of a session. */
  readonly resume: readonly [program: string, flag: string]
  /** What stands before the folder of a directory below the root. */
  readonly sessions: "" | "sessions/"
  /** Where the log of a session lies, where that is not in a folder of its directory. */
  readonly logPlace?: (sessionId: string) => string
  /** Sessions are listed, each under a key: what is written of one that pond converts. */
  readonly listing?: Listing
  /** Which words in the user's place are a person's. Absent: all. */
  readonly userTexts?: (text: Placed<string>) => PartDraft<"text">[]
  /** In how many pieces it reads what a person wrote. */
  readonly piecesOfText?: (text: string) => number
  /** Where pictures lie that are too large for a line, each under the SHA-256 of its bytes. */
  readonly pictures?: "blobs/"
  readonly roots: (environment: Environment, home: string) => readonly string[]
}

export interface Listing {
  readonly place: string
  /** `parentKey`: of the session that started it. */
  readonly keyOf: (sessionId: string, parentKey: string | undefined) => string
}

export const PI: Brand = {
  id: "pi",
  title: "pi",
  resume: ["pi", "--session"],
  sessions: "",
  roots,
}

export const OH_MY_PI = {
  id: "oh-my-pi",
  title: "oh-my-pi",
  resume: ["omp", "--resume"],
  sessions: "sessions/",
  pictures: "blobs/",
  roots: ohMyPiRoots,
} as const satisfies Brand

export const OPENCLAW = {
  id: "openclaw",
  title: "OpenClaw",
  resume: ["openclaw", "--session"],
  sessions: "",
  logPlace: (sessionId) => `agents/main/sessions/${sessionId}.jsonl`,
  listing: {
    place: "agents/main/sessions/sessions.json",
    keyOf: (sessionId, parentKey) => `agent:main:${parentKey === undefined ? "" : "subagent:"}${sessionId}`,
  },
  userTexts,
  piecesOfText,
  roots: openclawRoots,
} as const satisfies Brand

/** Of pi: a variable names the folder of one directory's sessions, and none is found below it. */
export function isDiverted({ PI_CODING_AGENT_SESSION_DIR: own }: Environment): boolean {
  return Boolean(own)
}
