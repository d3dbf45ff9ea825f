import type { ImagePart, Message } from '../engines'
import { imageSize, isWhole } from '../files'
import { AppError, atField, invalidInput, quoted } from '../kernel/errors'
import { encodedUrl, type Outbound, OutboundFailure, type OutboundKind, type PublicResponse } from '../kernel/outbound'
import { describeRejectedImage } from '../kernel/pictures'
import type { Image } from './agent-schema'
import type { Part } from './chat-schema'
import { withoutBlank } from './rules'
import type { Run, SentImage } from './run'
import type { Attachment } from './schema'

const TIMEOUT_MS = 10_000

const WORDS: Record<Exclude<OutboundKind, 'aborted'>, string> = {
  dns: 'names a host that does not exist',
  connect: 'could not be reached',
  tls: 'has no valid certificate',
  timeout: 'did not answer within 10 s',
  reset: 'stopped in the middle of its answer',
  'too-large': 'is larger than 15 MiB',
}

const MAX_IMAGE_BYTES = 15 * 1024 * 1024
const MAX_ADDRESS_CHARS = 2_048
const MAX_HOPS = 5

/** Pixels of one picture. Enough for the largest cameras, but far less than a small header may claim. */
const MAX_PIXELS = 250_000_000

/**
 * The media type of a picture by its bytes, without decoding it. Throws 400 `validation_error` if it is no PNG, JPEG,
 * WebP or GIF, has no pixels or too many, or was cut off (docs/attacks.md O5).
 */
function typeOfPicture(bytes: Buffer, path: string): string {
  const size = imageSize(bytes)
  const refused = (what: string) => invalidInput(path, `"${path}" ${what}.`)
  if (!size) throw refused(describeRejectedImage(bytes))
  const { format, width, height } = size
  if (width * height === 0)
    throw refused(`is a picture of ${width} × ${height} pixels, which is too small. Send a larger picture`)
  if (width * height > MAX_PIXELS) throw refused(`says that it has ${width} × ${height} pixels. Send a smaller picture`)
  if (!isWhole(format, bytes)) throw refused(`is an incomplete ${format}. Send the whole file`)
  return `image/${format.toLowerCase()}`
}

export const isImage = ({ type }: Part): boolean => type === 'image_url' || type === 'input_image' || type === 'image'

/**
 * The image of a chat part in any form that clients use, and the member that holds it. Null for other parts. Throws 400
 * `validation_error` if the image is missing. `path` is the path of the part.
 */
export function imageIn(part: Part, path: string): { attachment: Attachment; member: string; detail?: unknown } | null {
  if (part.type === 'image_url' || part.type === 'input_image') {
    const { image_url: image, detail } = part
    if (typeof image === 'string') return { attachment: attachmentOf(image), member: 'image_url', detail }
    return { attachment: attachmentOf(image.url), member: 'image_url.url', detail: image.detail ?? detail }
  }
  if (part.type !== 'image') return null
  const { image, data, source } = part
  const candidates = Object.entries({ image, data, 'source.data': source?.data, 'source.url': source?.url })
  for (const [member, text] of candidates) if (text) return { attachment: attachmentOf(text), member }
  throw invalidInput(`${path}.image`, `"${path}.image" is missing.`)
}

/** How the Base64 of a PNG, JPEG, GIF or WebP begins. Some clients send it without the head of a data URL. */
const BARE = /^\s*(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/

const attachmentOf = (text: string): Attachment =>
  BARE.test(text) ? { type: 'image_base64', data: text } : { type: 'image_url', url: text }

/**
 * Loads the images into the run: those of the prompt, and those of other turns and of tool results in their places.
 * Throws like {@link loadImages}.
 */
export async function showImages(run: Run, outbound: Outbound): Promise<void> {
  const { request, deadline, history } = run
  const first = request.context.length - history.length
  const wanted = request.images.filter(({ turn }) => turn === null || turn >= first)
  const loaded = await loadImages(wanted, outbound, deadline.signal)
  const of = (turn: number | null) => loaded.filter((_, place) => wanted[place]!.turn === turn)
  run.images = of(null)
  run.history = withoutBlank(history.map((turn, at) => withImages(turn, of(first + at))))
  const after = request.after.map((turn, at) => withImages(turn, of(request.context.length + at)))
  if (after.length) run.request = { ...request, after }
}

function withImages(turn: Message, images: readonly Image[]): Message {
  const parts = images.map((image): ImagePart => ({ type: 'image', ...image }))
  if (images.length && turn.role === 'tool') return { ...turn, images: parts }
  if (!images.length || turn.role !== 'user' || typeof turn.content !== 'string') return turn
  return { ...turn, content: turn.content.trim() ? [...parts, { type: 'text', text: turn.content }] : parts }
}

/**
 * The images as data, in their order, each with the type of its bytes. URLs are fetched here through the SSRF guard (15
 * MiB and 10 s each), so that no engine fetches URLs for callers. The declared type is ignored. Throws 400
 * `url_blocked`, `validation_error`.
 */
function loadImages(images: readonly SentImage[], outbound: Outbound, signal: AbortSignal): Promise<Image[]> {
  return Promise.all(images.map(load))

  async function load({ detail, ...sent }: SentImage): Promise<Image> {
    const image = await read(sent)
    return detail ? { ...image, detail } : image
  }

  async function read({ attachment, path }: Pick<SentImage, 'attachment' | 'path'>): Promise<Image> {
    if (attachment.type === 'image_base64') return seen(base64Of(attachment.data), path)
    const inline = inlineOf(attachment.url)
    if (inline !== null) return seen(inline, path)
    const { status, body } = await follow(attachment.url, path)
    if (status !== 200) throw invalidInput(path, `${quoted(attachment.url)} answered with status ${status}.`)
    if (!imageSize(body)) {
      throw invalidInput(path, `${quoted(attachment.url)} did not answer with a PNG, JPEG, WebP or GIF image.`)
    }
    const bytes = Buffer.from(body)
    return { mimeType: typeOfPicture(bytes, path), base64: bytes.toString('base64') }
  }

  function seen(base64: string, path: string): Image {
    return { mimeType: typeOfPicture(Buffer.from(base64, 'base64'), path), base64 }
  }

  /** Follows redirects one by one, because each target must pass the SSRF guard. */
  async function follow(first: string, path: string): Promise<PublicResponse> {
    let url = encodedUrl(first)
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      const answer = await fetchFrom(url, path)
      const next = [301, 302, 303, 307, 308].includes(answer.status) && URL.parse(answer.headers.location ?? '', url)
      if (!next) return answer
      next.hash = ''
      url = next.href
    }
    throw invalidInput(path, `${quoted(first)} redirects more than ${MAX_HOPS} times.`)
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
    outbound.readUrl(encodedUrl(attachment.url))
  } catch (error) {
    throw error instanceof AppError ? atField(error, path) : error
  }
}

/**
 * Throws 400 for data that is not Base64, is more than 15 MiB decoded or is no picture. `path` is the place of the data
 * or the URL in the body.
 */
export function assertAttachment(attachment: Attachment, path: string): void {
  const data = attachment.type === 'image_base64' ? base64Of(attachment.data) : inlineOf(attachment.url)
  if (data === null) {
    if (attachment.type === 'image_base64' || attachment.url.length <= MAX_ADDRESS_CHARS) return
    throw invalidInput(path, `"${path}" has more than ${MAX_ADDRESS_CHARS} characters.`)
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalidInput(path, `"${path}" is not base64.`)
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
  if (bytes > MAX_IMAGE_BYTES) throw invalidInput(path, `"${path}" is larger than 15 MiB decoded.`)
  typeOfPicture(Buffer.from(data, 'base64'), path)
}

/** The beginning of a data URL. Any declared type but text is accepted, because the bytes decide. */
const DATA_URL = /^\s*data:(?!text\/)[^,]{0,200};base64,/i

/**
 * The Base64 of an image as engines take it: without line breaks, without the head of a data URL, padded, and in the
 * standard alphabet instead of the URL-safe one (docs/api.md 6).
 */
export function base64Of(data: string): string {
  const bare = data
    .replace(DATA_URL, '')
    .replace(/\s+/g, '')
    .replace(/[-_]|%(?:2B|2F|3D)/gi, (sign) => USUAL[sign] ?? decodeURIComponent(sign))
  const last = bare.length % 4
  return last > 1 ? bare.padEnd(bare.length + 4 - last, '=') : bare
}

const USUAL: Readonly<Record<string, string>> = { '-': '+', _: '/' }

/** The Base64 of the image inside a data URL. Null for any other URL. */
const inlineOf = (url: string): string | null => (DATA_URL.test(url) ? base64Of(url) : null)
