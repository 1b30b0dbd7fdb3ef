/**
 * One spelling of a moment: RFC 3339 in UTC, with milliseconds, or with microseconds where the source had them.
 * Storage counts microseconds. What the source itself wrote stays in its record: this is what pond filters by.
 */
const PATTERN = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):?(\d\d))$/

/** The years that RFC 3339 can spell: 0000 to 9999. */
export const MICROS_MIN = -62_167_219_200_000_000n
export const MICROS_MAX = 253_402_300_799_999_999n
const MS_MIN = -62_167_219_200_000
const MS_MAX = 253_402_300_799_999

/** Most clients write moments as pond spells them, and this is asked once for every record. */
const SPELLED =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}(?:\d{3})?Z$/

/** A moment as pond spells it, from a text that spells it in any way; nothing where the text is no moment. */
export function momentOfText(text: string): string | undefined {
  if ((text.length === 24 || text.length === 27) && SPELLED.test(text))
    return text.length === 27 && text.endsWith("000Z") ? `${text.slice(0, 23)}Z` : text
  const micros = microsOfText(text)
  return micros === undefined ? undefined : textOfMicros(micros)
}

/** Nothing where the text is no moment: a date that does not exist is refused, not rolled over. */
export function microsOfText(text: string): bigint | undefined {
  if (text.length === 24 && SPELLED.test(text)) return BigInt(Date.parse(text)) * 1000n
  const found = PATTERN.exec(text)
  if (found === null) return undefined
  const [
    ,
    year = "",
    month = "",
    day = "",
    hour = "",
    minute = "",
    second = "",
    fraction = "",
    sign,
    zoneHour = "0",
    zoneMinute = "0",
  ] = found
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(day)) return undefined
  const zoneMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === "-" ? -60_000 : 60_000)
  return inRange(BigInt(ms - zoneMs) * 1000n + BigInt(fraction.padEnd(6, "0").slice(0, 6)))
}

/** The same from milliseconds since the epoch; nothing where no text can spell them. */
export function momentOfMs(ms: number): string | undefined {
  // Whole ones are what clients count in, and need no big integers: this is asked once for every record, too.
  if (Number.isInteger(ms)) return ms >= MS_MIN && ms <= MS_MAX ? new Date(ms).toISOString() : undefined
  const micros = microsOfMs(ms)
  return micros === undefined ? undefined : textOfMicros(micros)
}

function microsOfMs(ms: number): bigint | undefined {
  const micros = Math.round(ms * 1000)
  return Number.isFinite(micros) ? inRange(BigInt(micros)) : undefined
}

export function textOfMicros(micros: bigint): string {
  const inMs = micros % 1000n
  const ms = (micros - (inMs < 0n ? inMs + 1000n : inMs)) / 1000n
  const text = new Date(Number(ms)).toISOString()
  const rest = Number(micros - ms * 1000n)
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`
}

/** Whether a stored number stands for a moment that can be written. */
export function isMoment(micros: bigint): boolean {
  return inRange(micros) !== undefined
}

function inRange(micros: bigint): bigint | undefined {
  return micros >= MICROS_MIN && micros <= MICROS_MAX ? micros : undefined
}
