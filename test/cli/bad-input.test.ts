/** What a user can get wrong before any work begins: one clear line, its exit code, nothing on stdout; from the real process. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

interface Mistake {
  readonly name: string
  readonly args: readonly string[]
  /** In place of an environment with nothing but `HOME`. */
  readonly env?: (home: string) => Record<string, string>
  /** The text of `config.toml`. */
  readonly config?: string
  readonly exitCode: number
  readonly code: string
  /** `HOME` stands for the temporary home. */
  readonly line: string
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "an id that is empty",
    args: ["get", ""],
    exitCode: 2,
    code: "validation_failed",
    line: "ID is empty. `pond search` prints the ids of sessions and messages.",
  },
  {
    name: "an id that is empty, to be restored",
    args: ["restore", " "],
    exitCode: 2,
    code: "validation_failed",
    line: "SESSION is empty. `pond search` prints the ids of sessions and messages.",
  },
  ...["status", "search x", "get x", "stats", "optimize"].map((line) => ({
    name: `a store that is a plain file, for pond ${line}`,
    args: line.split(" "),
    env: (home: string) => ({ HOME: home, POND_STORE: `${home}/.config/pond/config.toml` }),
    config: "",
    exitCode: 5,
    code: "storage_unavailable",
    line: "The store HOME/.config/pond/config.toml cannot be created: part of its path is a file. Choose another with --store.",
  })),
  {
    name: "a store below a plain file",
    args: ["status"],
    env: (home: string) => ({ HOME: home, POND_STORE: `${home}/.config/pond/config.toml/store` }),
    config: "",
    exitCode: 5,
    code: "storage_unavailable",
    line: "The store HOME/.config/pond/config.toml/store cannot be created: part of its path is a file. Choose another with --store.",
  },
  {
    name: "a verb nobody knows",
    args: ["confgi"],
    exitCode: 2,
    code: "validation_failed",
    line: 'Unknown verb "confgi". Did you mean config? Run pond --help.',
  },
  {
    name: "a verb like no other",
    args: ["xyzzy"],
    exitCode: 2,
    code: "validation_failed",
    line: 'Unknown verb "xyzzy". Run pond --help.',
  },
  {
    name: "a flag nobody knows, after the verb",
    args: ["config", "--no-colour"],
    exitCode: 2,
    code: "validation_failed",
    line: "Unknown flag --no-colour. Did you mean --no-color?",
  },
  {
    name: "a flag nobody knows, before the verb",
    args: ["--stroe", "x", "config"],
    exitCode: 2,
    code: "validation_failed",
    line: "Unknown flag --stroe. Did you mean --store?",
  },
  {
    name: "a flag that every object answers to",
    args: ["config", "--constructor"],
    exitCode: 2,
    code: "validation_failed",
    line: "Unknown flag --constructor.",
  },
  {
    name: "a short flag nobody knows",
    args: ["config", "-x"],
    exitCode: 2,
    code: "validation_failed",
    line: "Unknown flag -x.",
  },
  {
    name: "a flag without its value, at the end",
    args: ["config", "--store"],
    exitCode: 2,
    code: "validation_failed",
    line: "--store needs a value: --store URL.",
  },
  {
    name: "a flag without its value, before another flag",
    args: ["config", "--store", "--quiet"],
    exitCode: 2,
    code: "validation_failed",
    line: "--store needs a value: --store URL.",
  },
  {
    name: "an empty value",
    args: ["config", "--store="],
    exitCode: 2,
    code: "validation_failed",
    line: "--store needs a value: --store URL.",
  },
  {
    name: "a value for a flag that takes none",
    args: ["config", "--verbose=yes"],
    exitCode: 2,
    code: "validation_failed",
    line: "--verbose takes no value.",
  },
  {
    name: "a bad value of an argument",
    args: ["completions", "zhs"],
    exitCode: 2,
    code: "validation_failed",
    line: 'SHELL must be one of bash, zsh, fish, not "zhs". Did you mean zsh?',
  },
  {
    name: "a missing argument",
    args: ["completions"],
    exitCode: 2,
    code: "validation_failed",
    line: "Missing SHELL: the shell: bash, zsh or fish.",
  },
  {
    name: "Unexpected argument",
    args: ["doctor", "now"],
    exitCode: 2,
    code: "validation_failed",
    line: 'Unexpected argument "now". It takes flags only: see --help.',
  },
  {
    name: "a storage URL of no kind that pond knows",
    args: ["storage", "check", "ftp://somewhere/else"],
    exitCode: 2,
    code: "validation_failed",
    line: "Invalid storage URL: supported: a path, file://, s3://, s3+https://, gs:// or az://.",
  },
  {
    name: "a storage URL with a password in it",
    args: ["storage", "check", "s3+https://me:secret@host/bucket"],
    exitCode: 2,
    code: "validation_failed",
    line: "Invalid storage URL: it must not contain credentials: set them in the environment or the config file.",
  },
  {
    name: "a storage setting that pond does not know",
    args: ["storage", "check", "s3://bucket/prefix"],
    config: '[storage."s3://bucket"]\nsecret = "x"\n',
    exitCode: 2,
    code: "validation_failed",
    line: "Unknown setting secret in the storage configuration. Known: access_key_id, secret_access_key, session_token, region, endpoint.",
  },
  {
    name: "half a verb of two words",
    args: ["storage"],
    exitCode: 2,
    code: "validation_failed",
    line: "pond storage needs one of: check.",
  },
  {
    name: "a namespace without a name",
    args: ["namespace", "create", ""],
    exitCode: 2,
    code: "validation_failed",
    line: "The name of a namespace has 1 to 1024 characters.",
  },
  {
    name: "a namespace that was never made",
    args: ["search", "x", "--namespace", "nobody"],
    exitCode: 7,
    code: "namespace_unknown",
    line: "This store has no such namespace. `pond namespace list` shows them, `pond namespace create` creates one.",
  },
  {
    name: "a config file that was named and is not there",
    args: ["config", "--config", "/nowhere/config.toml"],
    exitCode: 2,
    code: "validation_failed",
    line: "Cannot read the config file /nowhere/config.toml (ENOENT). Fix it, or choose another with --config.",
  },
  {
    name: "a config file that is a directory",
    args: ["config"],
    env: (home) => ({ HOME: home, POND_CONFIG: home }),
    exitCode: 2,
    code: "validation_failed",
    line: "Cannot read the config file HOME (EISDIR). Fix it, or choose another with --config.",
  },
  {
    name: "a config file that is not TOML",
    args: ["config"],
    config: 'namespace = "local"\n\nstore = = "x"\n',
    exitCode: 2,
    code: "validation_failed",
    line: "HOME/.config/pond/config.toml:3: Expected a value but found '='.",
  },
  {
    name: "a config key nobody knows",
    args: ["config"],
    config: '# where it is\nstroe = "/tmp/x"\n',
    exitCode: 2,
    code: "validation_failed",
    line: "HOME/.config/pond/config.toml:2: unknown setting stroe. Did you mean store?",
  },
  {
    name: "a config value of the wrong kind",
    args: ["config"],
    config: "store = 7\n",
    exitCode: 2,
    code: "validation_failed",
    line: "HOME/.config/pond/config.toml:1: store must be string, not 7.",
  },
  {
    name: "HOME unset",
    args: ["config"],
    env: () => ({}),
    exitCode: 2,
    code: "validation_failed",
    line: "HOME is not set, so pond cannot find its directories. Set HOME or XDG_CONFIG_HOME.",
  },
  {
    name: "HOME relative",
    args: ["config"],
    env: () => ({ HOME: "here", XDG_CONFIG_HOME: "also/here" }),
    exitCode: 2,
    code: "validation_failed",
    line: 'HOME is "here", which is not an absolute path, so pond cannot find its directories. Set HOME or XDG_CONFIG_HOME.',
  },
]

for (const { name, args, env, config, exitCode, code, line } of MISTAKES) {
  test(`${name}: one line, exit code ${exitCode}`, async () => {
    using home = temporaryHome()
    if (config !== undefined) writeFileSync(join(home.path, ".config/pond/config.toml"), config)
    const environment = env?.(home.path) ?? home.env
    const message = line.replaceAll("HOME/", `${home.path}/`).replace(/file HOME /, `file ${home.path} `)
    const [words, json] = await Promise.all([
      runPond(args, { env: environment, cwd: home.path }),
      runPond(["--json", ...args], { env: environment, cwd: home.path }),
    ])
    expect(words).toEqual({ stdout: "", stderr: `pond: ${message}\n`, exitCode })
    expect({ stderr: json.stderr, exitCode: json.exitCode }).toEqual({ stderr: "", exitCode })
    expect(json.stdout.trimEnd().split("\n")).toHaveLength(1)
    const { error } = JSON.parse(json.stdout)
    expect({ keys: Object.keys(error), code: error.code, message: error.message }).toEqual({
      keys: ["code", "message", "details"],
      code,
      message,
    })
  })
}

test.each(["data", "state", "cache"])(
  "a %s directory that cannot be made: doctor names it and exits 4",
  async (place) => {
    using home = temporaryHome()
    const blocked = join(home.path, "file")
    writeFileSync(blocked, "")
    const env = { ...home.env, [`XDG_${place.toUpperCase()}_HOME`]: blocked }
    const { stdout, exitCode } = await runPond(["doctor", "--json"], { env })
    const { ok, findings } = JSON.parse(stdout)
    expect({ ok, exitCode }).toEqual({ ok: false, exitCode: 4 })
    expect(findings).toContainEqual({
      check: `${place} directory`,
      status: "failed",
      found: `Cannot write to ${blocked}/pond (ENOTDIR). Part of the path is a file: choose another path.`,
      fix: null,
    })
  },
)

test.each([
  [
    "data",
    "The store HOME/file/pond/store cannot be created: part of its path is a file. Choose another with --store.",
  ],
  ["state", "Cannot write to HOME/file/pond (ENOTDIR). Part of the path is a file: choose another path."],
])("a %s directory that cannot be made: sync stores nothing and exits 5", async (place, line) => {
  using home = temporaryHome()
  const blocked = join(home.path, "file")
  writeFileSync(blocked, "")
  const record = {
    type: "user",
    uuid: "a",
    parentUuid: null,
    sessionId: "s",
    message: { role: "user", content: "hello" },
  }
  mkdirSync(join(home.path, ".claude/projects/-x"), { recursive: true })
  writeFileSync(
    join(home.path, ".claude/projects/-x/s.jsonl"),
    `${JSON.stringify({ ...record, cwd: "/x", version: "2.1.0", timestamp: "2026-01-01T00:00:00.000Z" })}\n`,
  )
  const env = { ...home.env, [`XDG_${place.toUpperCase()}_HOME`]: blocked }
  expect(await runPond(["sync", "-q"], { env })).toEqual({
    stdout: "",
    stderr: `pond: ${line.replace("HOME", home.path)}\n`,
    exitCode: 5,
  })
  const healthy = await runPond(["sync", "--json", "-q"], { env: home.env })
  expect(JSON.parse(healthy.stdout).adapters[0].messages).toEqual({ new: 1 })
})

test("a mistyped POND_ variable: doctor names it with the nearest right one", async () => {
  using home = temporaryHome()
  const { stdout, exitCode } = await runPond(["doctor"], { env: { ...home.env, POND_STROE: "x" } })
  expect(stdout).toContain("warning  environment: unknown variables: POND_STROE (did you mean POND_STORE?)\n")
  expect(exitCode).toBe(0)
})

test("without HOME, the XDG variables are enough", async () => {
  using home = temporaryHome()
  const places = ["CONFIG", "DATA", "STATE", "CACHE"]
  const env = Object.fromEntries(places.map((place) => [`XDG_${place}_HOME`, join(home.path, place)]))
  for (const path of Object.values(env)) mkdirSync(path)
  const { stdout, exitCode } = await runPond(["doctor"], { env })
  expect(stdout).toContain(`ok       data directory: ${home.path}/DATA/pond\n`)
  expect(exitCode).toBe(0)
})
