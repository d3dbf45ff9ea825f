import { trustedFetch } from '../../../kernel/outbound'
import { type Driver, EngineFailure, type ImageRequest, type MadeImage } from '../../engine'
import { failureOfStatus } from '../../failures'
import { changesPictures, editPrompt, imagePrompt, qualityFor, sizeFor } from '../../image-prompt'
import { PLAIN_TIMEOUT_MS, startTimeout, type UpstreamTimeout } from '../upstream-timeout'
import { readBytes, readText } from './body'
import { type CallOptions, headersOf, urlOf } from './call-options'

const MAX_IMAGE_BYTES = 32 * 1024 * 1024

/** Pictures of any server with `POST /images/generations`, changed by those that have `POST /images/edits`. */
export function createCompatImages(
  options: CallOptions & { imageEdits?: boolean | undefined },
): Required<Pick<Driver, 'image'>> {
  const { clock, timeoutMs = PLAIN_TIMEOUT_MS, silenceMs } = options
  const own = headersOf(options)
  return {
    async image(request) {
      const timeout = startTimeout(request.signal, { clock, timeoutMs, silenceMs })
      try {
        const edits = request.base && (options.imageEdits ?? changesPictures(request.model))
        const response = edits
          ? await ask('/images/edits', timeout, {
              method: 'POST',
              headers: own,
              body: toEditForm(request, request.base!),
            })
          : await ask('/images/generations', timeout, {
              method: 'POST',
              headers: { ...own, 'content-type': 'application/json' },
              body: JSON.stringify(toImageWire(request)),
            })
        const found = readImageAnswer(await readText(response, timeout))
        const made = 'url' in found ? await download(found.url, timeout) : found
        timeout.finished()
        return made
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
    },
  }

  /** A picture that the upstream keeps. An address elsewhere is not asked: an upstream is trusted, not what it names. */
  async function download(url: string, timeout: UpstreamTimeout): Promise<MadeImage> {
    const base = urlOf(options, '/')
    const place = URL.parse(url, base)
    if (!place || place.origin !== URL.parse(base)?.origin) {
      throw new EngineFailure('malformed', 'the answer names an image at another address')
    }
    const response = await ask(place.href, timeout, { headers: own })
    const bytes = await readBytes(response, timeout, MAX_IMAGE_BYTES)
    return { bytes, mimeType: response.headers.get('content-type') ?? 'image/png' }
  }

  async function ask(where: string, timeout: UpstreamTimeout, init: RequestInit): Promise<Response> {
    const url = where.startsWith('/') ? urlOf(options, where) : where
    const response = await trustedFetch(url, { ...init, signal: timeout.signal })
    timeout.heard()
    if (response.status === 200) return response
    const body = await readText(response, timeout)
    throw failureOfStatus(response.status, response.headers, clock.now(), body)
  }
}

/** One picture, with its bytes in the answer where that can be asked for. */
function toImageWire(request: ImageRequest) {
  const { model, aspectRatio, quality } = request
  const [size, wanted] = [sizeFor(model, aspectRatio), qualityFor(model, quality)]
  return {
    model,
    prompt: imagePrompt(request),
    n: 1,
    ...(size ? { size } : {}),
    ...(wanted ? { quality: wanted } : {}),
    // These always answer with bytes, and refuse to be told so.
    ...(model.startsWith('gpt-image') ? {} : { response_format: 'b64_json' }),
  }
}

/** A picture and what to change in it. */
function toEditForm(request: ImageRequest, { bytes, mimeType }: MadeImage): FormData {
  const form = new FormData()
  const { prompt: _, ...wire } = toImageWire(request)
  for (const [name, value] of Object.entries({ ...wire, prompt: editPrompt(request) })) form.set(name, String(value))
  form.set(
    'image',
    new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType }),
    `image.${mimeType.replace(/^image\//, '')}`,
  )
  return form
}

/** The picture in an answer, or the address where the upstream has it. Throws `malformed`. */
function readImageAnswer(text: string): MadeImage | { url: string } {
  const [first] = dataOf(text)
  if (typeof first?.b64_json === 'string') return decoded(first.b64_json)
  if (typeof first?.url !== 'string') throw malformed()
  return DATA_URL.test(first.url) ? decoded(first.url) : { url: first.url }
}

type WireImage = { b64_json?: unknown; url?: unknown } | null

function dataOf(text: string): WireImage[] {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw malformed()
  }
  const { data } = (answer ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) throw malformed()
  return data as WireImage[]
}

const DATA_URL = /^\s*data:[^,]{0,200},/i

/** The type is only a claim: what is kept has the one of its bytes. */
function decoded(base64: string): MadeImage {
  const bytes = Buffer.from(base64.replace(DATA_URL, ''), 'base64')
  if (bytes.length === 0) throw malformed()
  return { bytes, mimeType: 'image/png' }
}

const malformed = () => new EngineFailure('malformed', 'the answer holds no image')
