import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Files, findUpload } from '../files'
import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { AppError, invalidInput, messageOf } from '../kernel/errors'
import type { Store } from '../kernel/store'
import type { Audio } from '../media'
import { type Web, WebFailure } from '../research'
import type { Item } from './responses-schema'

export type FileDeps = {
  store: Store
  clock: Clock
  files: Pick<Files, 'read'>
  web: Pick<Web, 'read' | 'readBytes'>
  audio: Pick<Audio, 'transcribe'>
  /** Folder of files that are gone when their request is answered. */
  folder: string
}

const MAX_FILES = 10
/** Characters that are read of one file. */
const MAX_CHARS = 200_000
const MAX_MIB = { file: 15, audio: 25 }
const KINDS: ReadonlySet<unknown> = new Set(['file', 'input_file', 'document', 'input_audio'])
const DATA_URL = /^data:([^;,]{0,100})[^,]{0,100},/
const AS_TEXT = /^(?:text\/|application\/(?:json|xml|x-yaml)\b)/

/** A body in which files and recordings are texts, and what is to be said of that. */
type Read<Body> = { body: Body; warnings: string[] }

/**
 * Reads the files and recordings of a body (contract 33.3): in the place of each stands its text, under its name. `hears`:
 * recordings are transcribed, for the price of that; otherwise they are left out. Throws 400 `validation_error` for a
 * file that cannot be read, 404 for an unknown file, 503 `stt_unavailable`.
 */
export function filesRead<Body extends object>(
  deps: FileDeps,
  call: Call,
  body: Body,
  hears = true,
): Read<Body> | Promise<Read<Body>> {
  const found: Found[] = []
  for (const name of ['messages', 'input'] as const) look((body as Item)[name], name, found)
  if (!found.length) return { body, warnings: [] }
  return readAll(deps, call, body, found, hears)
}

/** {@link filesRead} with what it needs. */
export const fileReader =
  (deps: FileDeps) =>
  <Body extends object>(call: Call, body: Body) =>
    filesRead(deps, call, body)

type Found = { part: Item; path: string }

/** Parts of messages, of results of calls, and of blocks that hold others. */
function look(value: unknown, path: string, found: Found[]): void {
  if (!Array.isArray(value)) return
  for (const [at, one] of value.entries()) {
    if (typeof one !== 'object' || one === null) continue
    const part = one as Item
    const place = `${path}[${at}]`
    if ((KINDS.has(part.type) && !isText(part)) || pictureId(part) !== null) found.push({ part, path: place })
    else if (part.content !== undefined) look(part.content, `${place}.content`, found)
    else look(part.output, `${place}.output`, found)
  }
}

/** The file that a part shows as a picture; null for a part that holds its picture itself. */
function pictureId({ type, file_id, source }: Item): string | null {
  const id = type === 'input_image' ? file_id : type === 'image' ? (source as Item | undefined)?.file_id : undefined
  return typeof id === 'string' ? id : null
}

/** Documents that are text already. */
function isText({ type, source }: Item): boolean {
  if (type !== 'document') return false
  const { type: kind, media_type: media } = (source ?? {}) as Item
  return (
    kind === 'text' || kind === 'content' || kind === undefined || (kind === 'base64' && AS_TEXT.test(String(media)))
  )
}

async function readAll<Body extends object>(
  deps: FileDeps,
  call: Call,
  body: Body,
  found: readonly Found[],
  hears: boolean,
): Promise<Read<Body>> {
  if (found.length > MAX_FILES)
    throw invalidInput(
      found[MAX_FILES]!.path,
      `A request holds at most ${MAX_FILES} files; this one has ${found.length}.`,
    )
  const texts = new Map<Item, Item>()
  const warnings: string[] = []
  for (const { part, path } of found) {
    const picture = pictureId(part)
    if (picture !== null) {
      const data = Buffer.from(await uploaded(deps, call, picture, path)).toString('base64')
      const { file_id: _, ...rest } = part
      // What it is, is seen in its bytes.
      const source = { type: 'base64', media_type: 'image/png', data }
      texts.set(part, {
        ...rest,
        ...(part.type === 'image' ? { source } : { image_url: `data:image/png;base64,${data}` }),
      })
      continue
    }
    const isAudio = part.type === 'input_audio'
    if (isAudio) warnings.push(`The recording at "${path}" was transcribed, because the engine hears none.`)
    const text = !isAudio ? await textOf(deps, call, part, path) : hears ? await wordsOf(deps, call, part, path) : ''
    if (text.length >= MAX_CHARS - 1)
      warnings.push(`"${path}" was cut: only its first ${MAX_CHARS.toLocaleString('en')} characters were read.`)
    const name = holderOf(part).filename ?? part.title
    const shown = typeof name === 'string' && name ? name.slice(0, 200) : isAudio ? 'Recording' : 'File'
    const named = `${shown}:\n${text}`
    texts.set(
      part,
      part.type === 'document'
        ? { type: 'document', title: part.title, source: { type: 'text', media_type: 'text/plain', data: text } }
        : { type: String(part.type).startsWith('input_') && 'input' in body ? 'input_text' : 'text', text: named },
    )
  }
  return { body: replaced(body, texts) as Body, warnings }
}

function replaced(value: unknown, texts: ReadonlyMap<Item, Item>): unknown {
  if (Array.isArray(value)) return value.map((one) => replaced(one, texts))
  if (typeof value !== 'object' || value === null) return value
  const text = texts.get(value as Item)
  if (text) return text
  const { messages, input, content, output } = value as Item
  return {
    ...value,
    ...Object.fromEntries(
      Object.entries({ messages, input, content, output })
        .filter(([, inner]) => Array.isArray(inner))
        .map(([name, inner]) => [name, replaced(inner, texts)]),
    ),
  }
}

/** Where a file part says what it holds: as members of its own, of `file`, or of `source`. */
const holderOf = (part: Item): Item => (part.file ?? part.source ?? part) as Item

async function textOf(deps: FileDeps, call: Call, part: Item, path: string): Promise<string> {
  const by = { signal: call.signal, who: ownerOf(call.caller) }
  const { file_id: id, file_url: fileUrl, file_data: data, ...holder } = holderOf(part)
  const url = fileUrl ?? holder.url
  try {
    if (typeof url === 'string') return (await deps.web.read(url, by)).text
    if (typeof id === 'string') {
      const body = await uploaded(deps, call, id, path)
      return (await deps.web.readBytes({ contentType: '', body }, by)).text
    }
    const { body, contentType } = bytesOf(data ?? holder.data, 'file', path)
    return (await deps.web.readBytes({ contentType, body }, by)).text
  } catch (error) {
    if (!(error instanceof WebFailure)) throw error
    throw invalidInput(path, `"${path}" cannot be read. ${error.message.replace(/\b(T|t)he address\b/g, '$1he file')}`)
  }
}

async function uploaded(deps: FileDeps, call: Call, id: string, path: string): Promise<Uint8Array> {
  const row = await findUpload(deps, deps.store.read, ownerOf(call.caller), id)
  assertSize(row.size_bytes, 'file', path)
  return new Uint8Array(await new Response(await deps.files.read(row)).arrayBuffer())
}

/** The words of a recording, charged as those of `/audio/stt`. */
async function wordsOf(deps: FileDeps, call: Call, part: Item, path: string): Promise<string> {
  const { data } = (part.input_audio ?? part) as Item
  const { body } = bytesOf(data, 'audio', `${path}.input_audio`)
  const file = join(deps.folder, `audio-${randomHex(16)}`)
  await Bun.write(file, body)
  try {
    const { once: _, ...own } = call
    const { transcript } = await deps.audio.transcribe(own, { fields: new Map(), file: { field: 'file', path: file } })
    return transcript.text
  } finally {
    await unlink(file)
  }
}

function bytesOf(data: unknown, kind: keyof typeof MAX_MIB, path: string): { body: Uint8Array; contentType: string } {
  if (typeof data !== 'string' || !data)
    throw invalidInput(
      path,
      `"${path}" holds ${messageOf(data)} in place of a file. Send its bytes as base64, or a file_id.`,
    )
  const [head = '', type = ''] = DATA_URL.exec(data) ?? []
  const body = Buffer.from(data.slice(head.length), 'base64')
  if (!body.length) throw invalidInput(path, `"${path}" holds no bytes. Send the file as base64.`)
  assertSize(body.length, kind, path)
  // Clients call anything application/octet-stream, and much application/pdf: other types are seen in the bytes.
  return { body, contentType: AS_TEXT.test(type) ? type : '' }
}

function assertSize(bytes: number, kind: keyof typeof MAX_MIB, path: string): void {
  if (bytes > MAX_MIB[kind] * 1024 ** 2)
    throw new AppError('invalid', 'validation_error', `"${path}" is larger than ${MAX_MIB[kind]} MiB.`, { param: path })
}
