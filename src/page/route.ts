/** Where somebody is in the page, as the fragment of the address: it can be bookmarked, sent to oneself, and gone back from. */

export type Route =
  | { readonly view: "list"; readonly params: URLSearchParams }
  | { readonly view: "session"; readonly id: string; readonly anchor: string | undefined }
  | { readonly view: "activity" }

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2)
  const [view, id, anchor] = path.split("/").filter(Boolean).map(decodeURIComponent)
  if (view === "session" && id !== undefined) return { view, id, anchor }
  if (view === "activity") return { view }
  return { view: "list", params: new URLSearchParams(query) }
}

export function sessionHref(id: string, ordinal?: number): string {
  return `#/session/${encodeURIComponent(id)}${ordinal === undefined ? "" : `/m${ordinal}`}`
}

export function listHref(params: URLSearchParams): string {
  const text = params.toString()
  return text === "" ? "#/" : `#/?${text}`
}

/** The same list with one choice changed; choosing again what is chosen takes it away. */
export function withChoice(params: URLSearchParams, name: string, value: string | undefined): URLSearchParams {
  const changed = new URLSearchParams(params)
  if (value === undefined || value === "") changed.delete(name)
  else changed.set(name, value)
  return changed
}
