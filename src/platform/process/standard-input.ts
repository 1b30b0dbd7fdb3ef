/** Everything that another program writes to stdin, up to a limit. */

/** Undefined where somebody sits at a terminal, or where it is more. */
export async function readStandardInput(bytesMax: number, signal: AbortSignal): Promise<string | undefined> {
  if (process.stdin.isTTY === true) return undefined
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of Bun.stdin.stream()) {
    signal.throwIfAborted()
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
