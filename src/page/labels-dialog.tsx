/** Name, tags and note of a session: a person's own words about it. */
import { useState } from "preact/hooks"
import type { Labels } from "./api.ts"
import { Dialog } from "./dialog.tsx"

interface LabelsProps {
  readonly labels: Labels
  readonly onChange: (change: object) => void
  readonly onClose: () => void
}

export function LabelsDialog({ labels, onChange, onClose }: LabelsProps) {
  const [name, setName] = useState(labels.name ?? "")
  const [tags, setTags] = useState(labels.tags.join(", "))
  const [note, setNote] = useState(labels.note ?? "")
  const save = (event: Event) => {
    event.preventDefault()
    onChange(changeOf(labels, { name, tags, note }))
    onClose()
  }
  return (
    <Dialog title="Labels" onClose={onClose}>
      <form onSubmit={save}>
        <label>
          Name
          <input value={name} maxLength={500} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
        <label>
          Tags, separated by commas
          <input value={tags} onInput={({ currentTarget }) => setTags(currentTarget.value)} />
        </label>
        <label>
          Note
          <textarea value={note} rows={4} onInput={({ currentTarget }) => setNote(currentTarget.value)} />
        </label>
        <button type="submit">Save</button>
      </form>
    </Dialog>
  )
}

interface Edited {
  readonly name: string
  readonly tags: string
  readonly note: string
}

/** Only what changed: an empty name or note takes the old one away. */
function changeOf(before: Labels, { name, tags, note }: Edited): object {
  const wanted = tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean)
  const added = wanted.filter((tag) => !before.tags.includes(tag))
  const removed = before.tags.filter((tag) => !wanted.includes(tag))
  return {
    ...(name === (before.name ?? "") ? {} : { name }),
    ...(note === (before.note ?? "") ? {} : { note }),
    ...(added.length === 0 ? {} : { tags: added }),
    ...(removed.length === 0 ? {} : { untag: removed }),
  }
}
