/**
 * The parts of a message as Google's API has them, which several clients keep in their sessions: a text, a call
 * (`functionCall`), its result (`functionResponse`), data (`inlineData`) or its address (`fileData`).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Provenance } from "../../model/session.ts"
import {
  asJson,
  jsonHere,
  jsonUnder,
  keyAt,
  nonEmptyStringUnder,
  type Placed,
  type Sealed,
  stringHere,
  stringUnder,
  testIn,
} from "../extract.ts"
import { filePart, type PartDraft, toolCallPart, toolResultPart } from "../parts.ts"
import { inside, type Spot } from "../spot.ts"

/** The object under a key that says what kind a part is. */
export function partUnder(part: JsonValue, kind: string): JsonObject | undefined {
  const value = isJsonObject(part) ? part[kind] : undefined
  return isJsonObject(value) ? value : undefined
}

export function isThought(part: JsonValue): boolean {
  return isJsonObject(part) && part["thought"] === true
}

/** A text alone is a part, too. */
export function partText(part: Spot): Placed<string> | undefined {
  return stringHere(part) ?? stringUnder(part, "text")
}

/** `callId` is what a call without an id goes by. */
export function functionCallPart(
  call: Spot,
  provenance: Provenance,
  callId: Sealed<string> | undefined = nonEmptyStringUnder(call, "id"),
): PartDraft<"tool_call"> | undefined {
  const name = nonEmptyStringUnder(call, "name")
  const params = jsonUnder(call, "args")
  if (callId === undefined || name === undefined || params === undefined) return undefined
  return toolCallPart({ provenance, callId, name, params })
}

/** `status` says whether it failed, where the record has one beside it. */
export function functionResponsePart(
  functionResponse: Spot,
  status?: Sealed<string> | undefined,
): PartDraft<"tool_result"> | undefined {
  const callId = nonEmptyStringUnder(functionResponse, "id")
  const hasMore = inside(functionResponse, "parts") !== undefined
  const result = hasMore
    ? partAround(functionResponse)
    : (onlyText(functionResponse) ?? jsonUnder(functionResponse, "response"))
  if (callId === undefined || result === undefined) return undefined
  const key = keyAt(functionResponse.value, "response")
  return toolResultPart({
    provenance: "injected",
    callId,
    name: nonEmptyStringUnder(functionResponse, "name"),
    isFailure: status === undefined ? key && testIn(key, /^error$/) : failed(status),
    result,
  })
}

/** The whole part, with the pictures that stand beside the response. */
function partAround({ above }: Spot): Placed<JsonValue> | undefined {
  return above && jsonHere(above)
}

export function failed(status: Sealed<string>): Sealed<boolean> {
  return testIn(status, /^(?:error|cancelled)$/)
}

/** A response of one text stands as that text. */
export function onlyText(functionResponse: Spot): Placed<JsonValue> | undefined {
  const response = inside(functionResponse, "response")
  if (response === undefined || !isJsonObject(response.value) || Object.keys(response.value).length !== 1)
    return undefined
  const text = stringUnder(response, "output") ?? stringUnder(response, "error")
  return text && asJson(text)
}

export function dataPart(part: Spot, provenance: Provenance): PartDraft<"file"> | undefined {
  const data = inside(part, "inlineData")
  const base64 = data && stringUnder(data, "data")
  if (data !== undefined && base64 !== undefined) {
    const fileName = nonEmptyStringUnder(data, "displayName")
    return filePart({ provenance, mediaType: nonEmptyStringUnder(data, "mimeType"), fileName, data: { base64 } })
  }
  const file = inside(part, "fileData")
  const url = file && stringUnder(file, "fileUri")
  if (file === undefined || url === undefined) return undefined
  return filePart({ provenance, mediaType: nonEmptyStringUnder(file, "mimeType"), data: { url } })
}
