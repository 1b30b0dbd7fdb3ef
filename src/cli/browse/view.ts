/** What a screen is made of: views on a stack, each of which draws itself and answers keys; and where sessions come from. */
import type { Key } from "../../platform/process/keyboard.ts"
import type { Style } from "../render/style.ts"
import type { Choice } from "./list-screen.ts"

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

export interface View {
  /** Exactly as many lines as the screen has. The note says what the last key has done. */
  readonly screen: (size: ScreenSize, style: Style, note: string) => readonly string[]
  /** Begins what the screen waits for; called before each drawing. */
  readonly prepare: (size: ScreenSize) => void
  readonly press: (key: Key, size: ScreenSize) => Step
  /** When it leaves the stack. */
  readonly close: () => void
}

/** What a key leads to. */
export type Step =
  | { readonly kind: "stay" }
  | { readonly kind: "back" }
  | { readonly kind: "open"; readonly view: View }
  | { readonly kind: "copy"; readonly text: string }
  /** An answer leaves the view that asked for it. */
  | { readonly kind: "wish"; readonly wish: Wish; readonly isAnswer?: true }

/** A session to continue. */
export interface Wish {
  readonly id: string
  /** Another client than its own. */
  readonly to?: string
}

export const STAY: Step = { kind: "stay" }
export const BACK: Step = { kind: "back" }

/** Draws again once the work is done, and what it returned was applied. */
export type Later = (work: Promise<() => void>) => void

export interface BrowseSource {
  readonly choices: readonly Choice[]
  /** Those behind the first ones, asked for once these are on the screen. */
  readonly more?: (signal: AbortSignal) => AsyncIterable<readonly Choice[]>
  /** A glimpse of one: where the query stands in it, or what was said last. */
  readonly preview: (choice: Choice, query: string, columns: number) => Promise<readonly string[]>
  /** Those in which it was said, the best first. */
  readonly search: (query: string) => Promise<readonly Choice[]>
  /** The whole of one, some lines at a time. */
  readonly read: (choice: Choice, options: ReadOptions) => AsyncIterable<readonly string[]>
  /** The clients that a session may continue in. */
  readonly clients: () => Promise<readonly Choice[]>
  /** Gives it a star, or takes that away; returns how its line reads then. */
  readonly star: (choice: Choice) => Promise<Choice>
}

export interface ReadOptions {
  readonly columns: number
  readonly withTools: boolean
  readonly signal: AbortSignal
}
