/**
 * Decides how eagerly JavaScriptCore compiles: the only caller of `Bun.unsafe.setJITPolicy`.
 *
 * Most code that a command runs is run a few times, and what the compiler spends on it is never earned back. With every
 * threshold 16 times as high, a search among 1,000 sessions took 165 ms of processor time instead of 194, a status 99
 * instead of 140, a sync of nothing 44 instead of 55, each in 6 MB less; 4 saves half of that, 100 nothing more. An import
 * of 163 MB takes the same time with either. A server wants the normal thresholds: it runs the same code for days.
 */

const COMMAND_SCALE = 16
const NORMAL_SCALE = 1

/** For a process that answers one command and ends. Called before anything else is loaded. */
export function compileLate(): void {
  Bun.unsafe.setJITPolicy(COMMAND_SCALE)
}

/** For a process that goes on answering. */
export function compileAsUsual(): void {
  Bun.unsafe.setJITPolicy(NORMAL_SCALE)
}
