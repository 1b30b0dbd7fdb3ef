/**
 * What the schedulers of each system read, as pure text: systemd's units, launchd's property list, a line of a crontab.
 * Each quotes by the rules of its reader. Knows nothing of where the files lie, nor of who loads them.
 */

import { shellWord } from "./shell-word.ts"

/** A command that runs again and again. */
export interface Job {
  readonly command: readonly string[]
  readonly everyMinutes: number
  /** A scheduler starts a program without the user's shell: what it must know of the environment comes along. */
  readonly variables: Readonly<Record<string, string>>
  /** Where what it says goes, on systems that keep no log. */
  readonly logPath: string
}

const NOTE = "Created by pond schedule start; removed by pond schedule stop."

// --- systemd ------------------------------------------------------------------------------------------------------

export function systemdService({ command, variables }: Job): string {
  const environment = Object.entries(variables).map(
    ([name, value]) => `Environment=${systemdWord(`${name}=${value}`, "assignment")}\n`,
  )
  return [
    `# ${NOTE}\n`,
    "[Unit]\nDescription=Store sessions of coding agents (pond sync)\n",
    "Documentation=man:systemd.timer(5)\n\n",
    "[Service]\nType=oneshot\n",
    ...environment,
    `ExecStart=${command.map((word) => systemdWord(word, "command")).join(" ")}\n`,
    // 4 says that something in a source was not whole: said in the log, and no reason to call the unit failed.
    "SuccessExitStatus=4\nNice=10\nIOSchedulingClass=idle\n",
  ].join("")
}

export function systemdTimer({ everyMinutes }: Job): string {
  return [
    `# ${NOTE}\n`,
    `[Unit]\nDescription=pond sync, every ${everyMinutes} minutes\n\n`,
    `[Timer]\nOnStartupSec=2min\nOnUnitInactiveSec=${everyMinutes}min\nAccuracySec=1min\n\n`,
    "[Install]\nWantedBy=timers.target\n",
  ].join("")
}

/** `%` starts a specifier everywhere, `$` a variable in a command alone. */
function systemdWord(word: string, of: "command" | "assignment"): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("\n", "\\n")
  return `"${of === "command" ? escaped.replaceAll("$", "$$$$") : escaped}"`
}

// --- launchd ------------------------------------------------------------------------------------------------------

export function launchdList(label: string, { command, everyMinutes, variables, logPath }: Job): string {
  const text = (value: string) => `<string>${xmlText(value)}</string>`
  const environment = Object.entries(variables).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>\n    ${text(value)}\n`,
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n',
    `<!-- ${NOTE} -->\n<plist version="1.0">\n<dict>\n`,
    `  <key>Label</key>\n  ${text(label)}\n`,
    `  <key>ProgramArguments</key>\n  <array>\n${command.map((word) => `    ${text(word)}\n`).join("")}  </array>\n`,
    environment.length === 0 ? "" : `  <key>EnvironmentVariables</key>\n  <dict>\n${environment.join("")}  </dict>\n`,
    `  <key>StartInterval</key>\n  <integer>${everyMinutes * 60}</integer>\n`,
    "  <key>RunAtLoad</key>\n  <true/>\n  <key>ProcessType</key>\n  <string>Background</string>\n",
    "  <key>LowPriorityIO</key>\n  <true/>\n",
    `  <key>StandardOutPath</key>\n  ${text(logPath)}\n`,
    `  <key>StandardErrorPath</key>\n  ${text(logPath)}\n`,
    "</dict>\n</plist>\n",
  ].join("")
}

/** A property list is XML 1.0, which has no way to say most control characters: a path with one is not worth its life. */
function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

// --- cron ---------------------------------------------------------------------------------------------------------

export const CRON_MARK = "# pond sync: created by pond schedule start; removed by pond schedule stop"

/** The user's table with pond's line in it once, or without it; every other line as it was. */
export function crontabWith(table: string, job: Job | undefined): string {
  const others = table.split("\n").filter((line) => !line.endsWith(CRON_MARK))
  if (job === undefined) return others.join("\n")
  const before = others.join("\n").replace(/\n*$/, "\n").replace(/^\n$/, "")
  return `${before}${cronTimes(job.everyMinutes)} ${cronCommand(job)} ${CRON_MARK}\n`
}

/** cron counts within an hour and within a day: only what divides them comes at even intervals. */
export function isCronInterval(minutes: number): boolean {
  return minutes < 60 ? 60 % minutes === 0 : minutes % 60 === 0 && 24 % (minutes / 60) === 0
}

function cronTimes(minutes: number): string {
  if (minutes < 60) return `${minutes === 1 ? "*" : `*/${minutes}`} * * * *`
  const hours = minutes / 60
  if (hours >= 24) return "17 4 * * *"
  return `17 ${hours === 1 ? "*" : `*/${hours}`} * * *`
}

function cronCommand({ command, variables, logPath }: Job): string {
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${shellWord(value)}`)
  const words = [...assignments, ...command.map(shellWord), ">", shellWord(logPath), "2>&1"]
  // A bare % ends the command, and begins its input.
  return words.join(" ").replaceAll("%", "\\%")
}
