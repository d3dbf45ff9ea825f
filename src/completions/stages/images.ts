import type { Image } from '../../agent/schema'
import { imageSize } from '../../files'
import { AppError, atField, invalidInput, quoted } from '../../kernel/errors'
import { type Outbound, OutboundFailure, type OutboundKind, type PublicResponse } from '../../kernel/outbound'
import { typeOfPicture } from '../pictures'
import type { SentImage } from '../request'
import { base64Of, inlineOf, MAX_IMAGE_BYTES } from '../rules'

const TIMEOUT_MS = 10_000

/**
 * The images as data, in their order, each with the type that its bytes are. URLs are fetched here through the SSRF
 * guard (15 MiB and 10 s each), so that no engine fetches URLs for callers; the type they are served as is not read. Throws 400 `url_blocked`, `validation_error`.
 */
export function loadImages(images: readonly SentImage[], outbound: Outbound, signal: AbortSignal): Promise<Image[]> {
  return Promise.all(images.map(load))

  async function load({ attachment, path }: SentImage): Promise<Image> {
    if (attachment.type === 'image_base64') return read(base64Of(attachment.data), path)
    const inline = inlineOf(attachment.url)
    if (inline !== null) return read(inline, path)
    const { status, body } = await fetchFrom(attachment.url, path)
    if (status !== 200 || !imageSize(body)) {
      throw invalidInput(path, `${quoted(attachment.url)} did not answer with a PNG, JPEG, WebP or GIF image.`)
    }
    const bytes = Buffer.from(body)
    return { mimeType: typeOfPicture(bytes, path), base64: bytes.toString('base64') }
  }

  function read(base64: string, path: string): Image {
    return { mimeType: typeOfPicture(Buffer.from(base64, 'base64'), path), base64 }
  }

  async function fetchFrom(url: string, path: string): Promise<PublicResponse> {
    try {
      return await outbound.fetchPublic(url, { maxBytes: MAX_IMAGE_BYTES, timeoutMs: TIMEOUT_MS, signal })
    } catch (error) {
      if (error instanceof AppError && error.code === 'url_blocked') throw atField(error, path)
      if (error instanceof AppError || !(error instanceof OutboundFailure) || error.kind === 'aborted') throw error
      throw invalidInput(path, `${quoted(url)} ${WORDS[error.kind]}.`)
    }
  }
}

/** Checks the URL of an image that is not fetched. Throws 400 `url_blocked`. */
export function assertUrl({ attachment, path }: SentImage, outbound: Pick<Outbound, 'readUrl'>): void {
  if (attachment.type === 'image_base64' || inlineOf(attachment.url) !== null) return
  try {
    outbound.readUrl(attachment.url)
  } catch (error) {
    throw error instanceof AppError ? atField(error, path) : error
  }
}

const WORDS: Record<Exclude<OutboundKind, 'aborted'>, string> = {
  dns: 'names a host that does not exist',
  connect: 'could not be reached',
  tls: 'has no valid certificate',
  timeout: 'did not answer within 10 s',
  reset: 'stopped in the middle of its answer',
  'too-large': 'is larger than 15 MiB',
}
