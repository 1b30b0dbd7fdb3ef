/**
 * An object store for tests: Amazon S3 and Google Cloud Storage on one loopback port, in memory, with conditional
 * writes, faults that can be switched while it runs, and a record of what was asked. It is what a real store is to
 * Lance, so that what holds here about concurrent writers and lost answers holds there.
 * On `node:http` and not on `Bun.serve`, which cannot close a connection in the middle of a body of known length.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { createFaultDice, type Fate, type Faults, type Refusal } from "./object-faults.ts"
import {
  type Addressed,
  type Answer,
  addressOf,
  answer,
  failure,
  GOOGLE_ROOT,
  type RequestKind,
} from "./object-protocol.ts"
import { createObjectSpace, type ObjectSpace } from "./object-space.ts"

export interface ObjectServerOptions {
  readonly faults?: Faults
  /** Repeats the faults of an earlier run. */
  readonly seed?: number
  readonly buckets?: readonly string[]
  /** Lets in requests that carry no key. */
  readonly isOpen?: boolean
  /** The longest page of a listing: small ones make every listing a paginated one. */
  readonly pageLimit?: number
}

/** One request as it was served. `status` is 0 where the connection closed before any answer. */
export interface ServedRequest {
  readonly kind: RequestKind
  readonly bucket: string
  readonly key: string
  /** Of a listing. */
  readonly prefix?: string
  /** Of a read of a part of an object, as it was asked for. */
  readonly range?: string
  readonly status: number
  readonly isConditionalWrite: boolean
  /** Bytes of the body that came, and of the body that went back. */
  readonly up: number
  readonly down: number
}

export type StoreKind = "s3" | "gs"

export interface ObjectServer extends AsyncDisposable {
  readonly url: string
  /** What is stored, for a test to look at or to damage. */
  readonly space: ObjectSpace
  /** Requests since the start or the last `resetCounts`, oldest first. */
  readonly requests: readonly ServedRequest[]
  /** `{ get: 3, list: 1 }`: the requests counted by kind. */
  counts(): Partial<Record<RequestKind, number>>
  resetCounts(): void
  setFaults(faults: Faults): void
  /** What LanceDB's `connect` needs beside `s3://<bucket>/…` or `gs://<bucket>/…`. */
  storageOptions(kind: StoreKind): Record<string, string>
  stop(): Promise<void>
}

export const TEST_BUCKET = "pond-test"
export const TEST_KEY = { accessKeyId: "pond-test-key", secretAccessKey: "pond-test-secret" }

const REFUSALS: Readonly<Record<Refusal, Answer | undefined>> = {
  dropRequest: undefined,
  internalError: failure(500, "InternalError"),
  slowDown: failure(503, "SlowDown"),
  writeConflict: failure(409, "ConditionalRequestConflict"),
}

export async function startObjectServer(options: ObjectServerOptions = {}): Promise<ObjectServer> {
  const seed = options.seed ?? 1
  const space = createObjectSpace(options.buckets ?? [TEST_BUCKET])
  const protocol = {
    pageLimit: options.pageLimit ?? 1000,
    ...(options.isOpen === true ? {} : { accessKeyId: TEST_KEY.accessKeyId }),
  }
  const requests: ServedRequest[] = []
  let dice = createFaultDice(options.faults ?? {}, seed)

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = {
      method: incoming.method ?? "",
      target: incoming.url ?? "",
      headers: incoming.headers as Record<string, string>,
      body: await bodyOf(incoming),
    }
    const address = addressOf(request)
    const fate = dice(address.isConditionalWrite)
    await Bun.sleep(fate.delayMs)
    const reply = fate.refusal === undefined ? answer(space, request, address, protocol) : REFUSALS[fate.refusal]
    const isTold = reply !== undefined && fate.delivery !== "dropAnswer"
    const isHead = address.kind === "head" || address.kind === "head_bucket"
    const bytes = { up: request.body.length, down: isTold && !isHead ? reply.body.length : 0 }
    requests.push({ ...record(address, request.headers, isTold ? reply.status : 0), ...bytes })
    if (isTold) await deliver(incoming, outgoing, reply, fate)
    else incoming.socket.destroy()
  }

  const sockets = new Set<Socket>()
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  return {
    url,
    space,
    get requests() {
      return [...requests]
    },
    counts: () => countByKind(requests),
    resetCounts: () => {
      requests.length = 0
    },
    setFaults: (faults) => {
      dice = createFaultDice(faults, seed)
    },
    storageOptions: (kind) => storageOptions(kind, url),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function storageOptions(kind: StoreKind, url: string): Record<string, string> {
  if (kind === "gs") {
    const noKey = { client_email: "", private_key: "", private_key_id: "" }
    const account = { gcs_base_url: `${url}${GOOGLE_ROOT}`, disable_oauth: true, ...noKey }
    return { google_service_account_key: JSON.stringify(account), allow_http: "true" }
  }
  return {
    aws_access_key_id: TEST_KEY.accessKeyId,
    aws_secret_access_key: TEST_KEY.secretAccessKey,
    aws_endpoint: url,
    aws_region: "us-east-1",
    aws_virtual_hosted_style_request: "false",
    allow_http: "true",
  }
}

function record(
  { kind, bucket, key, parameters, isConditionalWrite }: Addressed,
  { range }: Readonly<Record<string, string>>,
  status: number,
): Omit<ServedRequest, "up" | "down"> {
  const prefix = kind === "list" ? parameters.get("prefix") : null
  const asked = { ...(prefix === null ? {} : { prefix }), ...(range === undefined ? {} : { range }) }
  return { kind, bucket, key, status, isConditionalWrite, ...asked }
}

function countByKind(requests: readonly ServedRequest[]): Partial<Record<RequestKind, number>> {
  const counts: Partial<Record<RequestKind, number>> = {}
  for (const { kind } of requests) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of incoming) pieces.push(piece)
  return new Uint8Array(Buffer.concat(pieces))
}

async function deliver(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers, body }: Answer,
  { delivery, pieceMs }: Fate,
): Promise<void> {
  const isHead = incoming.method === "HEAD"
  const length = headers["content-length"] ?? `${body.length}`
  outgoing.writeHead(status, status === 204 || status === 304 ? headers : { ...headers, "content-length": length })
  if (isHead || body.length === 0 || delivery === "whole") {
    outgoing.end(isHead ? undefined : body)
    return
  }
  const pieceBytes = Math.ceil(body.length / 4)
  const pieces = [0, 1, 2, 3].map((at) => body.subarray(at * pieceBytes, (at + 1) * pieceBytes))
  for (const piece of delivery === "cutBody" ? pieces.slice(0, 2) : pieces) {
    await Bun.sleep(pieceMs)
    outgoing.write(piece)
  }
  if (delivery === "cutBody") incoming.socket.destroy()
  else outgoing.end()
}
