/** The client in which a session continues, where that is not its own. */
import { afterKey, type Choice, chosen, type ListState, listScreen } from "./list-screen.ts"
import { BACK, type BrowseSource, type Later, STAY, type View } from "./view.ts"

export function createClientView(source: BrowseSource, choice: Choice, later: Later): View {
  let state: ListState = { choices: [], query: "", at: 0, isGrowing: true }
  later(
    source.clients().then((choices) => () => {
      state = { ...state, choices, isGrowing: false }
    }),
  )
  const hint = "Enter: resume there  Esc: back"
  return {
    screen: ({ columns, rows }, style) =>
      listScreen(state, { style, columns, rows, prompt: "Continue in", preview: [choice.title], hint }),
    prepare: () => undefined,
    press: (key) => {
      if (key.kind === "leave" || key.kind === "left") return BACK
      const client = key.kind === "enter" ? chosen(state) : undefined
      if (client !== undefined) return { kind: "wish", wish: { id: choice.id, to: client.id }, isAnswer: true }
      state = afterKey(state, key)
      return STAY
    },
    close: () => undefined,
  }
}
