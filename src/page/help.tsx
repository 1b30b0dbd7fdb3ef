/** The keys that the page knows. */
import { Dialog } from "./dialog.tsx"

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["/", "Search, or find in a session"],
  ["j, k", "Next and previous session, result or message"],
  ["Enter", "Open it"],
  ["u", "Back to the list"],
  ["l", "All sessions"],
  ["a", "Activity"],
  ["s", "Star the session"],
  ["c", "Continue the session in a client"],
  ["e", "Unfold or fold everything in the session"],
  ["?", "This help"],
]

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
