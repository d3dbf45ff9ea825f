import { AppError } from '../kernel/errors'

/** The raw bytes of the body, as needed to check a signature over them. Throws 413 `payload_too_large`. */
export async function readRaw(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) {
      throw new AppError(
        'too_large',
        'payload_too_large',
        `The body is larger than ${maxBytes} bytes, the most this route accepts.`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The fields of a small form; a repeated field has its last value. Throws 413 `payload_too_large`. */
export async function readForm(request: Request, maxBytes: number): Promise<Record<string, string>> {
  const text = new TextDecoder().decode(await readRaw(request, maxBytes))
  return Object.fromEntries(new URLSearchParams(text))
}
