#!/usr/bin/env node
// Starts the executable that npm installed for this machine.

const { spawn } = require("node:child_process")

const MACHINES = "@MACHINES@"

function isMusl() {
  if (process.platform !== "linux") return false
  const report = process.report?.getReport()
  return !report?.header?.glibcVersionRuntime
}

function executable() {
  const name = `pond-${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`
  try {
    return require.resolve(`${name}/bin/pond`)
  } catch {
    const known = MACHINES.split(", ").includes(name)
    console.error(
      known
        ? `pond: the package ${name} is not installed. Install pond again without --omit=optional.`
        : `pond is not built for ${process.platform} ${process.arch}. There are: ${MACHINES}.`,
    )
    process.exit(1)
  }
}

const path = executable()
const args = process.argv.slice(2)

// Where node can, pond takes the place of this process: signals and the terminal are then its own.
if (typeof process.execve === "function") {
  try {
    process.execve(path, [path, ...args], process.env)
  } catch {
    start()
  }
} else {
  start()
}

function start() {
  const child = spawn(path, args, { stdio: "inherit" })
  // A terminal sends Ctrl-C to both; pond decides when it ends. Other signals reach this process alone.
  process.on("SIGINT", () => undefined)
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => {
    console.error(`pond: cannot start ${path}: ${error.message}`)
    process.exit(1)
  })
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code)
    for (const each of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(each)
    process.kill(process.pid, signal)
  })
}
