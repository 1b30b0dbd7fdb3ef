/**
 * The contract of an adapter: the codec between one client's sessions on disk and the canonical model.
 *
 * Laws, each proved for every adapter by `test/contract/adapter.contract.test.ts`:
 *   1. `parse` never throws, whatever the records hold. What it cannot read it keeps whole, and says so in an issue.
 *   2. `serialize.native` gives back every record that `parse` was given, equal by value and in order, issues or not.
 *   3. Parsing the second half of a unit from its resume point gives the same rows as parsing the whole unit. Not
 *      applicable to a unit that is one document, which its source says by the form of the file.
 *   4. What `serialize.foreign` writes, parsed again, holds the conversation but for the losses, which name every difference.
 *   5. `parse`, `context` and `serialize` are pure: no clock, no disk, no environment, no chance. `source` reads the disk.
 *   6. `source` opens named paths and named tables only, because credentials are in the same directories as sessions.
 *   7. `output` names every relative path and every session id that a restore may write. A session may come from anybody:
 *      whatever else it asks for is refused before a byte is written.
 *
 * The words follow the data: plan (names and sizes), resolve (bytes, still raw), hydrate (parsed values).
 */
import type { JsonValue } from "../model/json.ts"
import type { Issue, Loss } from "../model/report.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import type { Environment } from "../platform/host/environment.ts"
import type { Lineages, Models, RetentionPolicy, Upgrade, Watching } from "./capabilities.ts"
import type { Hooks } from "./hooks.ts"
import type { OutputForms } from "./output-forms.ts"
import type { Registration } from "./registration.ts"
import type { Inside } from "./shared/inside.ts"
import type { Vocabulary } from "./shared/vocabulary.ts"
import type { FromSource, SourceValue } from "./source-value.ts"
import type { UsageReading } from "./usage-reading.ts"

/** Eight members that every adapter has, and capabilities: what a client can do that others cannot. */
export interface Adapter {
  /** The brand of the client, which its sessions carry as `source_agent`: `claude-code`. A sub-agent's is `claude-code/<type>`. */
  readonly id: string
  readonly title: string
  readonly judged: Judgement
  readonly source: Source
  /** Hydrates one unit: one session. */
  readonly parse: (unit: SourceUnit, sink: ParseSink, resume?: ResumePoint) => Parser
  /**
   * The live conversation: what the client would send to its model if the session went on now. Walks the tree of
   * branches, applies compaction and rollback, leaves out carriers. `ancestors` are the sessions that this one continues, nearest first.
   */
  readonly context: (log: SessionLog, ancestors: readonly SessionLog[]) => readonly Entry[]
  readonly serialize: Serialize
  readonly output: OutputForms

  /** What the client calls the tools that other clients have too. Without it calls keep their names. */
  readonly vocabulary?: Vocabulary
  readonly models?: Models
  /** What its records say of tokens and money. */
  readonly usage?: UsageReading
  /** What the record of a finished tool call says of the file that the tool read or wrote; `result` is what the model was told. */
  readonly files?: (record: JsonValue, callId: string, result: string) => FileRecord | undefined
  readonly database?: Database
  /**
   * For sources in which no file is a session: the document that stands for one, put together from rows of a database, or from
   * the changes that a log has of it. Undefined for a file that is read as it lies. Law: names its tables, and reads no others.
   */
  readonly assemble?: (file: SourceFile) => string | undefined
  /** Most lines of its logs have no id: each line is hashed for one while its bytes are at hand. */
  readonly contentIds?: true
  /** The files below the root that a line names: each is called after its bytes, and many sessions share it. Read last, as bytes. */
  readonly attachments?: (line: string) => readonly string[]
  readonly lineage?: Lineages
  readonly relocation?: Relocation
  readonly upgrade?: Upgrade
  readonly retention?: RetentionPolicy
  readonly watching?: Watching
  /** How the client is told of pond's MCP server. Absent where it knows no MCP. */
  readonly registration?: Registration
  /** How the client is told to call `pond hook`. Absent where it has no hooks. */
  readonly hooks?: Hooks
  /** What the client printed for programs, as the logs that it would have kept. Absent where its output does not hold them. */
  readonly printedLogs?: (output: string) => readonly PrintedLog[]
}

/** By what an adapter was judged, and the client versions that it was judged with. Newer versions are read all the same. */
export interface Judgement {
  /** `client`: the client itself resumed what pond wrote. `samples`: real sessions came back whole. `source only`: its code was read. */
  readonly by: "client" | "samples" | "source only"
  readonly from: string
  readonly to: string
  /** In what it is installed (npm, PyPI), where these versions are those of the package: see `packageVersion`. */
  readonly packages?: readonly string[]
}

/** A log that was made of what a client printed: whose it is, where it would lie below a root, and its lines. */
export interface PrintedLog {
  readonly sessionId: string
  readonly relativePath: string
  readonly text: string
}

/** A file as the record of a tool call has it, beside what the call and its result say. */
export interface FileRecord {
  /** All of it before the call; null where there was no such file. Absent where the record does not say. */
  readonly before?: string | null
  /** All of it as the call showed it or left it. */
  readonly whole?: string
}

// --- Plan: what is on the disk --------------------------------------------------------------------------------------

export interface Source {
  /** The roots where this client keeps its sessions, by its own variables and defaults, whether or not they exist. */
  readonly roots: (environment: Environment, home: string) => readonly string[]
  /** Roots that are read only where the adapter is asked for by name, and that exist. */
  readonly askedRoots?: (environment: Environment, home: string) => readonly string[]
  /** Names and sizes only: opens no session file (a database, or a file of many sessions, is opened for the list of them). */
  readonly plan: (root: string) => Iterable<SourceUnit | Issue> | AsyncIterable<SourceUnit | Issue>
  /** Whether a file that somebody points at begins as the files of this source do. Sources that go by names are not asked then. */
  readonly isOwn?: (path: string) => boolean
  /**
   * Whether a project has sessions of a client that stores them in the project and keeps no list of projects. pond looks
   * where other clients worked, and a restore writes to the directory in which the session continues.
   */
  readonly isIn?: (project: string) => boolean
}

/** What one session is read from. */
export interface SourceUnit {
  /** Stable for as long as the session lies where it lies: a place, or a place and a row's id. */
  readonly key: string
  readonly root: string
  /** In the order in which they are read. The first is the main one. */
  readonly files: readonly SourceFile[]
  /**
   * Small records about this session in a file that its client keeps for all sessions, such as a title in an index. They come
   * with the plan and are parsed after the files, all of them each time. A change of them is a change of the unit.
   */
  readonly beside?: readonly RawRecord[]
  /**
   * For units of a database: the session's id and a mark that changes whenever one of its rows does; and whether nobody can
   * be writing it, so that what is not finished never will be.
   */
  readonly row?: { readonly id: string; readonly mark: string; readonly isAtRest?: boolean }
  /** A session that holds all of this and more: where it is stored, the unit is left out. */
  readonly insteadOf?: { readonly id: string; readonly source_agent: string }
  /** What its parent is known by, where only a record of that session says it. */
  readonly parent?: SourceValue
}

export type SourceForm = "log" | "document" | "text" | "bytes" | "database"

export interface SourceFile extends FromSource {
  /** The absolute path. It may hold any bytes that a path can. */
  readonly path: string
  /** The path below the root, with `/`. This is what is stored, and where a native restore puts it. */
  readonly relativePath: string
  /** `log` is JSON Lines (`.zst` is read through), `document` one JSON value, `text` and `bytes` are kept as they are. */
  readonly form: SourceForm
  readonly sizeBytes: number
  readonly modifiedMs: number
  /** When its bytes or its names last changed, which no program can set back. */
  readonly changedMs?: number
  readonly inode: number
  /** Of one that lies inside of the file at `path`, such as a session in an export of an account: where. */
  readonly inside?: Inside
}

// --- Resolve: raw records -------------------------------------------------------------------------------------------

export type RawRecord =
  /** A line of a log without its line feed, or a whole document or text. */
  | {
      readonly form: "log" | "document" | "text"
      readonly file: SourceFile
      readonly line: number
      readonly text: string
      /** The xxHash64 of the bytes that the text was read from, see `Adapter.contentIds`. */
      readonly hash?: bigint
    }
  /** Bytes that are no UTF-8, or a file of form `bytes`. */
  | { readonly form: "bytes"; readonly file: SourceFile; readonly line: number; readonly bytes: Uint8Array }
  | {
      readonly form: "row"
      readonly file: SourceFile
      readonly line: number
      readonly table: string
      /** Its columns. Rows that belong to it alone may stand inside it, as a list under the name of their table. */
      readonly row: SourceValue
    }

// --- Hydrate: canonical values --------------------------------------------------------------------------------------

export interface Parser {
  /** One raw record, in order. Emits what has become certain. */
  push(raw: RawRecord): void
  /**
   * No more records: emits the rest, and says from where to go on. `isSettled` says that no more are soon to come: a session
   * that has not said all of itself then begins with what is known. Until it does it may stay unsaid, and is read again.
   * Asked `false` in the middle of a log whose session has begun, it says the same and changes nothing: records may follow.
   */
  end(isSettled: boolean): ParseEnd
}

export interface ParseSink {
  /** The session comes first, once (`adapter-integrity-event-ordering`). */
  session(session: Session): void
  entry(entry: Entry): void
  issue(issue: Issue): void
}

/** Where an earlier parse of the same unit stopped. */
export interface ResumePoint {
  readonly session: Session
  readonly nextOrdinal: number
  /** The ids of the messages that are stored already. */
  readonly seen: ReadonlySet<string>
  /** What the adapter asked to be kept, which it took from the source. */
  readonly state: SourceValue
}

export interface ParseEnd {
  /** What this adapter needs to go on from here: plain JSON, small. */
  readonly state: JsonValue
  /** The versions of the client that wrote these records. */
  readonly clientVersions: readonly string[]
}

// --- Serialize: canonical values to files of the client -------------------------------------------------------------

export interface Serialize {
  /** Writes the files that the session came from, equal by value. Children are separate sessions. */
  readonly native: (session: Session, sink: FileSink) => NativeSerializer
  /**
   * Writes a session of another client, or of this one in an old form, as this client would write it today. Absent where nothing
   * that is written for it would be opened: its sessions go on in other clients.
   */
  readonly foreign?: ForeignSerializer
  /** How a person goes on with a restored session. */
  readonly resume: (sessionId: string, cwd: string, location?: SessionLocation) => ResumeCommand
  /** Its sessions go on in the program of another client. That this program is installed does not say that the client is. */
  readonly isGuest?: true
}

export type ForeignSerializer = (conversation: Conversation, target: ForeignTarget, sink: FileSink) => ForeignEnd

/** The mirror of `Parser`: entries in, lines out. A long session is never held whole by a client whose files are logs. */
export interface NativeSerializer {
  /** Entries of whole records, in order. A revision is handed over together with what it revises. */
  push(entries: readonly Entry[]): void
  end(): NativeEnd
}

export interface NativeEnd {
  /** The id under which the client knows the session. */
  readonly sessionId: string
  /** Whether the client of today opens no session of this form: it is restored as it was, and goes on if it is written anew. */
  readonly isOutdated?: boolean
  /** What a person opens it by, where that is not its id. */
  readonly knownAs?: string
}

export interface ForeignEnd {
  /** The id under which the target client knows the session. */
  readonly sessionId: string
  readonly losses: readonly Loss[]
}

/** Where a serializer writes to. Files appear in the order in which they are first written to. */
export interface FileSink {
  /** The next line of a log. `isShared`: other sessions have lines in that file too, which is added to and never replaced. */
  line(relativePath: string, line: OutputLine, isShared?: true): void
  /** The next row of a database, see `Database.schema`. */
  row(relativePath: string, row: OutputRow): void
  /** A file that is one value. The last one written under a path counts. */
  file(file: WholeFile): void
}

/**
 * A session as another client needs to know it: its live conversation, and those of its sub-agents. Of options it has
 * those that pond added; what the session's client recorded besides is not to be relied on.
 */
export interface Conversation {
  readonly session: Session
  readonly entries: readonly Entry[]
  readonly children: readonly Conversation[]
  /** What its client calls its tools and models. Absent where no adapter knows that client. */
  readonly origin?: Origin | undefined
}

export type Origin = Pick<Adapter, "vocabulary" | "models">

export interface ForeignTarget {
  /** The directory that the session goes on in. */
  readonly cwd: string
  /** What to do with reasoning that the target cannot verify. */
  readonly reasoning: "keep" | "text" | "drop"
  /** The model that the target was last used with, where it is known: see `Models.lastUsed`. */
  readonly model?: string | undefined
}

/** A file as a whole, made of what a `FileSink` was given. */
export type OutputFile =
  | { readonly form: "log"; readonly relativePath: string; readonly lines: OutputLines; readonly isShared?: true }
  | WholeFile
  | {
      readonly form: "database"
      readonly relativePath: string
      /** As often as they are asked for, as the lines of a log. */
      readonly rows: Iterable<OutputRow>
      readonly schema: DatabaseSchema
    }

/**
 * `entryOf`: the text is an entry of a list of all sessions, told apart by that key; where it is empty, the list is an object,
 * and the text an object of some of its entries. `isShared`, of bytes: a name that says what is in it. Of a text: other sessions
 * lie in that file too, which is added to and never replaced.
 */
export type WholeFile = { readonly relativePath: string } & (
  | { readonly form: "document" | "text"; readonly text: string; readonly entryOf?: string; readonly isShared?: true }
  | { readonly form: "bytes"; readonly bytes: Uint8Array; readonly isShared?: true }
)

/** A line without its line feed: text, or bytes where the source held no UTF-8. */
export type OutputLine = string | Uint8Array

/** The lines of a log, as often as they are asked for. Those of a long one need not lie in memory. */
export interface OutputLines extends Iterable<OutputLine> {
  readonly length: number
}

export interface OutputRow {
  readonly table: string
  /** As in a raw row: rows of other tables may stand inside it. */
  readonly row: Readonly<Record<string, JsonValue>>
}

/** Where a session lies that a client is to open. */
export interface SessionLocation {
  /** Of its main file, below the root. */
  readonly relativePath?: string | undefined
  /** Absent: the default directory of the client. */
  readonly root?: string | undefined
  /** See `NativeEnd`. */
  readonly knownAs?: string | undefined
}

export interface ResumeCommand {
  readonly command: readonly string[]
  /** Variables that tell the client where the session lies, where it would not look there. */
  readonly environment?: Readonly<Record<string, string>>
  /** What a person is to know of a client that is started so. */
  readonly note?: string
  /** What is to be run first, where the client opens nothing that it has put away. */
  readonly before?: readonly string[]
  readonly cwd: string
}

// --- Capabilities -----------------------------------------------------------------------------------------------------

/** For clients whose sessions are rows of a database. Law: `rows` opens it read-only, and reads named tables only. */
export interface Database {
  readonly schema: DatabaseSchema
  /**
   * The raw rows of a unit, in the order of the client. `since` is the state of an earlier parse of the unit: then only what
   * is new or has changed comes, each as the whole row that it is now.
   */
  readonly rows: (unit: SourceUnit, since?: SourceValue) => AsyncIterable<RawRecord>
  /**
   * Gives `context` a piece at a time, each of whole records, to a reader that does not hold the session. Undefined where
   * only the whole tells, because what was said is undone, summed up or replaced. Law: the pieces together equal the whole.
   */
  readonly contextOfPieces?: () => (piece: SessionLog) => readonly Entry[] | undefined
}

/** What a writer of rows must know of a client's database, to make it where there is none and to tell rows apart. */
export interface DatabaseSchema {
  /** The statements that make an empty database as the client itself would. */
  readonly create: readonly string[]
  /** The tables that rows may go to, with the columns that tell their rows apart. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  /** Tables whose rows several sessions have in common: one that is there stays as it is. */
  readonly shared: readonly string[]
  /** Tables whose rows own all others: when a session is replaced, these go first, and what they own goes with them. */
  readonly owners: readonly string[]
  /** Tables whose key counts the rows of all sessions, and who owns a row: it gets another number where its own is taken. */
  readonly numbered?: Readonly<Record<string, { readonly number: string; readonly owner: string }>>
}

/** Where files of a session lie once it goes on in another directory, or once the client itself has moved them. */
export interface Relocation {
  /** The path of a file once the session goes on in another directory. Absent: as it was. */
  readonly relativePath?: (relativePath: string, from: string, to: string) => string
  /** What the client calls a file wherever it puts it: what lay here first and there later is one. Absent: its path. */
  readonly nameOf?: (relativePath: string) => string
  /** Where the client keeps by now what would be written to a path, or that path. Reads names only. */
  readonly currentPath?: (root: string) => (relativePath: string) => string
  /** For clients whose files name others of their session by absolute paths: a file as it is to lie below a root. */
  readonly atRoot?: (root: string) => (file: OutputFile) => OutputFile
  /** Whether a variable of the person's has the client look elsewhere than where a restore writes, below the first root. */
  readonly isDiverted?: (environment: Environment) => boolean
  /** Writes files of which lines were changed: what points into another of them by its bytes is set right. */
  readonly repoint?: (files: readonly OutputFile[], sink: FileSink) => void
  /** What `repoint` leaves as it was of a record that has no id. Law: equal before and after `repoint`. */
  readonly unchangedByRepoint?: (record: JsonValue) => JsonValue
}
