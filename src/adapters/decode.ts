/** Reads moments, paths and kinds of images in the forms that clients write. Gives plain values, which `extract.ts` seals. */
import type { JsonValue } from "../model/json.ts"
import { momentOfMs, momentOfText } from "../model/timestamp.ts"

/** A moment that is written as text, or counted in milliseconds since the epoch. */
export function decodeMoment(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return momentOfText(value)
  return typeof value === "number" ? momentOfMs(value) : undefined
}

/** As SQLite writes it: in UTC, which it mostly does not say. */
export function decodeSqliteMoment(value: JsonValue | undefined): string | undefined {
  if (typeof value !== "string") return undefined
  return decodeMoment(/(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? value.replace(" ", "T") : `${value.replace(" ", "T")}Z`)
}

/** The moment at which a UUID of version 7 was made, which its first 48 bits say. */
export function decodeUuidMoment(uuid: string): string | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i.exec(uuid) ?? []
  return high === undefined ? undefined : decodeMoment(Number.parseInt(`${high}${low}`, 16))
}

/** The path that a `file:` URL names, as the machine that wrote it would; nothing where it names none. */
export function decodeFileUrl(url: string): string | undefined {
  const path = /^file:\/\/(?:localhost)?(\/.*)$/.exec(url)?.[1]
  if (path === undefined) return undefined
  try {
    return decodeURIComponent(path).replace(/^\/(?=[A-Za-z]:)/, "")
  } catch {
    return undefined
  }
}

export function textFingerprint(text: string): string {
  return `text-${Bun.hash.xxHash64(text).toString(16).padStart(16, "0")}`
}

/** How the base64 of an image begins, which is how its bytes say what they are. */
const IMAGE_OPENINGS: readonly (readonly [opening: string, mediaType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
]

export function imageTypeOfBase64(base64: string): string | undefined {
  const found = IMAGE_OPENINGS.find(([opening]) => base64.startsWith(opening))?.[1]
  // Sound lies in the same container.
  if (found !== "image/webp") return found
  return Buffer.from(base64.slice(0, 16), "base64").toString("latin1", 8) === "WEBP" ? found : undefined
}
