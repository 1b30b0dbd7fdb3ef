/**
 * The one source of chance of every test. The same on every run, so that a red test is red because the code changed;
 * `POND_SEED=random` (as `bun run fuzz` sets it) or a number asks for another. A failure prints what repeats it.
 */
const FIXED = 20_260_214
const asked = process.env["POND_SEED"]

export const SEED = asked === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(asked ?? FIXED)
