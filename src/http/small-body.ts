import { takeBody } from './intake'

/** The raw bytes of a public route's body, as needed to check a signature. Throws 413 `payload_too_large`, 503, 504. */
export async function readRaw(request: Request, maxBytes: number): Promise<Uint8Array> {
  const { bytes, release } = await takeBody(request, { maxBytes, isPublic: true })
  release()
  return bytes
}

/** The fields of a small form; a repeated field has its last value. Throws 413 `payload_too_large`, 503, 504. */
export async function readForm(request: Request, maxBytes: number): Promise<Record<string, string>> {
  const text = new TextDecoder().decode(await readRaw(request, maxBytes))
  return Object.fromEntries(new URLSearchParams(text))
}
