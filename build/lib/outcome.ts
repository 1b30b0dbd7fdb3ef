/** What a storm over pond leaves behind, said so that a reader can judge it: what was done, what was found, whether that is right. */
export interface Outcome {
  readonly what: string
  readonly isRight: boolean
  readonly found: string
}

export interface Chaos {
  /** One line for the list of storms. */
  readonly summary: string
  /** Each outcome as soon as it is known. */
  run(args: readonly string[]): AsyncIterable<Outcome>
}

export function printOutcome({ what, isRight, found }: Outcome): void {
  console.log(`${isRight ? "ok   " : "WRONG"}  ${what}: ${found}`)
}

/** The value of `--name VALUE`, or what stands for it. */
export function numberFlag(args: readonly string[], name: string, otherwise: number): number {
  const at = args.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(args[at + 1])
}
