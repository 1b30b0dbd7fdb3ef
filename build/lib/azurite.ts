/**
 * Azurite, Microsoft's own emulator of Azure Blob Storage, for `bun run test:azure`. It is 164 MB in 300 packages,
 * so it is no dependency of pond: the first use installs it, by the package manager, into a directory that later uses
 * find again (`POND_AZURITE`, or one under the temporary directory).
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Later ones ask for a package version that does not exist. */
const AZURITE_VERSION = "3.34.0"
const MAIN = "node_modules/azurite/dist/src/blob/main.js"
const API_VERSION = "2023-11-03"

/** The account that every Azurite knows: published by Microsoft, no secret. */
const ACCOUNT = "devstoreaccount1"
const ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

export const TEST_CONTAINER = "pond-test"

export interface Azurite extends AsyncDisposable {
  readonly url: string
  /** What reaches it, as Microsoft's own tools name it. */
  readonly environment: Readonly<Record<string, string>>
}

export async function startAzurite(): Promise<Azurite> {
  const home = await installed(process.env["POND_AZURITE"] ?? join(tmpdir(), `pond-azurite-${AZURITE_VERSION}`))
  const directory = mkdtempSync(join(tmpdir(), "pond-azurite-run-"))
  const flags = [
    "--location",
    directory,
    "--blobPort",
    "0",
    "--skipApiVersionCheck",
    "--loose",
    "--silent",
    "--disableTelemetry",
  ]
  const child = Bun.spawn([process.execPath, "--bun", join(home, MAIN), ...flags], {
    cwd: directory,
    stdout: "pipe",
    stderr: "inherit",
  })
  async function stop(): Promise<void> {
    child.kill()
    await child.exited
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const url = `${await listeningAt(child.stdout)}/${ACCOUNT}`
    await createContainer(url, TEST_CONTAINER)
    const connection = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${ACCOUNT_KEY};BlobEndpoint=${url};`
    return { url, environment: { AZURE_STORAGE_CONNECTION_STRING: connection }, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Installs beside and renames, so that a directory which is there is whole. */
async function installed(home: string): Promise<string> {
  if (existsSync(join(home, MAIN))) return home
  const draft = mkdtempSync(`${home}-draft-`)
  await Bun.write(join(draft, "package.json"), JSON.stringify({ dependencies: { azurite: AZURITE_VERSION } }))
  const install = Bun.spawn([process.execPath, "install", "--ignore-scripts"], { cwd: draft, stderr: "pipe" })
  const complaint = await new Response(install.stderr).text()
  if ((await install.exited) !== 0) throw new Error(`Azurite ${AZURITE_VERSION} could not be installed: ${complaint}`)
  try {
    renameSync(draft, home)
  } catch (error) {
    if (!existsSync(join(home, MAIN))) throw error
    rmSync(draft, { recursive: true })
  }
  return home
}

/** Reads on after the answer: a child whose pipe is closed dies of its next line. */
function listeningAt(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  async function read(): Promise<void> {
    let said = ""
    for await (const piece of output.pipeThrough(new TextDecoderStream())) {
      said += piece
      const url = /listens on (http:\/\/\S+)/.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    }
    throw new Error(`Azurite ended before it listened: ${said}`)
  }
  read().catch(reject)
  return promise
}

/** The Shared Key scheme: the parts of the request that matter, one a line, under HMAC-SHA256. */
async function createContainer(url: string, container: string): Promise<void> {
  const date = new Date().toUTCString()
  const canonicalHeaders = `x-ms-date:${date}\nx-ms-version:${API_VERSION}\n`
  const resource = `/${ACCOUNT}${new URL(url).pathname}/${container}\nrestype:container`
  const signed = `PUT${"\n".repeat(12)}${canonicalHeaders}${resource}`
  const signature = new Bun.CryptoHasher("sha256", Buffer.from(ACCOUNT_KEY, "base64")).update(signed).digest("base64")
  const answer = await fetch(`${url}/${container}?restype=container`, {
    method: "PUT",
    headers: {
      "x-ms-date": date,
      "x-ms-version": API_VERSION,
      authorization: `SharedKey ${ACCOUNT}:${signature}`,
    },
  })
  if (answer.status !== 201) throw new Error(`Azurite refused the container: ${answer.status} ${await answer.text()}`)
}
