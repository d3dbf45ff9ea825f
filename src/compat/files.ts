import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineService } from '../engines'
import type { GivenFile } from '../engines/schema'
import { type Files, findUpload, typeByName } from '../files'
import type { ArtifactId } from '../files/schema'
import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { AppError, atField, invalidInput, messageOf } from '../kernel/errors'
import type { Store } from '../kernel/store'
import { wordOf } from '../kernel/text'
import type { Audio } from '../media'
import { type Web, WebFailure } from '../research'
import type { HostedTool } from '../tools/schema'
import type { Item } from './responses-schema'

export type FileDeps = {
  store: Store
  clock: Clock
  files: Pick<Files, 'read' | 'findRow'>
  web: Pick<Web, 'read' | 'readBytes'>
  audio: Pick<Audio, 'transcribe'>
  engines: Pick<EngineService, 'named' | 'takes' | 'sees'>
  /** Folder of temporary files. They are deleted when their request is answered. */
  folder: string
}

const MAX_FILES = 10
/** Maximum number of characters read from one file. */
const MAX_CHARS = 200_000
const MAX_MIB = { file: 15, audio: 25 }
const KINDS: ReadonlySet<unknown> = new Set(['file', 'input_file', 'document', 'input_audio'])
const DATA_URL = /^data:([^;,]{0,100})[^,]{0,100},/
const AS_TEXT = /^(?:text\/|application\/(?:json|xml|x-yaml)\b)/

/**
 * A body whose files and recordings are replaced by texts, with warnings about them. `files`: those that the engine
 * takes in their original form, in place of their texts.
 */
type Read<Body> = { body: Body; warnings: string[]; files: GivenFile[] }

/** The `files` member for the request of a body. */
export const givenFiles = ({ files }: Pick<Read<unknown>, 'files'>): { files?: readonly GivenFile[] } =>
  files.length ? { files } : {}

/**
 * Reads the files and recordings of a body (docs/api.md 33.3). Replaces each by its text, under its name. A PDF without
 * text is replaced by pictures of its pages. `hears`: recordings are transcribed at the usual price, unless the engine
 * takes audio itself. Without `hears` they are left out. `isChat`: the format has no documents, so they are texts too.
 * Throws 400 `validation_error` for a file that cannot be read, 404 for an unknown file, 503 `stt_unavailable`.
 */
export function filesRead<Body extends object>(
  deps: FileDeps,
  call: Call,
  body: Body,
  hears = true,
  isChat = false,
): Read<Body> | Promise<Read<Body>> {
  const found: Found[] = []
  for (const name of ['messages', 'input', 'items'] as const) look((body as Item)[name], name, found, isChat)
  if (!found.length) return { body, warnings: [], files: [] }
  return readAll(deps, call, body, found, { hears, isChat })
}

/** The tools of a request that needs its pictures as Base64. Each picture is added to `pictures` when it is made. */
export const showing = (
  { store, files }: Pick<FileDeps, 'store' | 'files'>,
  { caller }: Call,
  tools: readonly HostedTool[],
  pictures: Map<string, string>,
): HostedTool[] =>
  tools.map((tool) => ({
    ...tool,
    async took(result) {
      for (const { artifact_id: id } of (result as { images?: { artifact_id: ArtifactId | null }[] }).images ?? []) {
        const row = id && (await files.findRow(store.read, ownerOf(caller), id))
        if (row)
          pictures.set(id, Buffer.from(await new Response(await files.read(row)).arrayBuffer()).toString('base64'))
      }
    },
  }))

/** {@link filesRead} with its dependencies. */
export const fileReader =
  (deps: FileDeps) =>
  <Body extends object>(call: Call, body: Body) =>
    filesRead(deps, call, body, true, true)

type Found = { part: Item; path: string }

/** Finds the file parts of messages, tool results, and blocks that contain others. */
function look(value: unknown, path: string, found: Found[], isChat: boolean): void {
  if (!Array.isArray(value)) return
  for (const [at, one] of value.entries()) {
    if (typeof one !== 'object' || one === null) continue
    const part = one as Item
    const place = `${path}[${at}]`
    if ((KINDS.has(part.type) && (isChat || !isText(part))) || pictureId(part) !== null)
      found.push({ part, path: place })
    else if (part.content !== undefined) look(part.content, `${place}.content`, found, isChat)
    else look(part.output, `${place}.output`, found, isChat)
  }
}

/** The file id of a part that shows a file as a picture. Null if the part contains the picture itself. */
function pictureId({ type, file_id, source }: Item): string | null {
  const id = type === 'input_image' ? file_id : type === 'image' ? (source as Item | undefined)?.file_id : undefined
  return typeof id === 'string' ? id : null
}

/** True for documents that are already text. */
function isText({ type, source }: Item): boolean {
  if (type !== 'document') return false
  const { type: kind, media_type: media } = (source ?? {}) as Item
  return (
    kind === 'text' || kind === 'content' || kind === undefined || (kind === 'base64' && AS_TEXT.test(wordOf(media)))
  )
}

async function readAll<Body extends object>(
  deps: FileDeps,
  call: Call,
  body: Body,
  found: readonly Found[],
  { hears, isChat }: { hears: boolean; isChat: boolean },
): Promise<Read<Body>> {
  if (found.length > MAX_FILES)
    throw invalidInput(
      found[MAX_FILES]!.path,
      `A request holds at most ${MAX_FILES} files; this one has ${found.length}.`,
    )
  const texts = new Map<Item, readonly Item[]>()
  const warnings: string[] = []
  const files: GivenFile[] = []
  const model = deps.engines.named((body as { model?: string | null }).model)
  for (const { part, path } of found) {
    const picture = pictureId(part)
    if (picture !== null) {
      const data = Buffer.from(await uploaded(deps, call, picture, path)).toString('base64')
      const { file_id: _, ...rest } = part
      // The type is detected from the bytes.
      const source = { type: 'base64', media_type: 'image/png', data }
      texts.set(part, [
        { ...rest, ...(part.type === 'image' ? { source } : { image_url: `data:image/png;base64,${data}` }) },
      ])
      continue
    }
    const isAudio = part.type === 'input_audio'
    const isDocument = part.type === 'document' && !isChat
    const name = holderOf(part).filename ?? part.title
    const shown = typeof name === 'string' && name ? name.slice(0, 200) : isAudio ? 'Recording' : 'File'
    const takes = deps.engines.takes(isAudio ? 'audio' : 'files', model)
    const { text, file, pictures } = isAudio
      ? await recordingOf(deps, call, part, path, { takes, hears })
      : await documentOf(deps, call, part, path)
    if (isAudio && !file) warnings.push(`The recording at "${path}" was transcribed, because the engine hears none.`)
    if (text.length >= MAX_CHARS - 1)
      warnings.push(`"${path}" was cut: only its first ${MAX_CHARS.toLocaleString('en')} characters were read.`)
    const isInput = wordOf(part.type).startsWith('input_') && !('messages' in body)
    if (pictures && !(takes && file)) {
      const cannot = `"${path}" holds no text, and the engine sees no pictures of its pages. Use "svc-1-vision".`
      if (!deps.engines.sees(model) || !pictures.length) throw invalidInput(path, cannot)
      warnings.push(`"${path}" holds no text, so its first ${pictures.length} pages were given as pictures.`)
      const parts = pictures.map((data) => pictureOf(data, isDocument, isInput))
      texts.set(part, [...(isDocument ? [] : [textPart(`${shown}:`, isInput)]), ...parts])
      continue
    }
    const words = pictures ? 'A document without text.' : text
    const named = `${shown}:\n${words}`
    if (takes && file)
      files.push({
        ...{ type: isAudio ? ('audio' as const) : ('files' as const), name: shown, mimeType: file.mimeType },
        ...{ base64: Buffer.from(file.bytes).toString('base64'), whole: isAudio || pictures !== undefined },
        text: isDocument ? words : named,
      })
    texts.set(part, [
      isDocument
        ? { type: 'document', title: part.title, source: { type: 'text', media_type: 'text/plain', data: words } }
        : textPart(named, isInput),
    ])
  }
  return { body: replaced(body, texts) as Body, warnings, files }
}

const textPart = (text: string, isInput: boolean): Item => ({ type: isInput ? 'input_text' : 'text', text })

function pictureOf(data: string, isDocument: boolean, isInput: boolean): Item {
  const url = `data:image/jpeg;base64,${data}`
  if (isDocument) return { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data } }
  return isInput ? { type: 'input_image', image_url: url } : { type: 'image_url', image_url: { url } }
}

function replaced(value: unknown, texts: ReadonlyMap<Item, readonly Item[]>): unknown {
  if (Array.isArray(value)) return value.flatMap((one): readonly unknown[] => texts.get(one) ?? [replaced(one, texts)])
  if (typeof value !== 'object' || value === null) return value
  const { messages, input, items, content, output } = value as Item
  return {
    ...value,
    ...Object.fromEntries(
      Object.entries({ messages, input, items, content, output })
        .filter(([, inner]) => Array.isArray(inner))
        .map(([name, inner]) => [name, replaced(inner, texts)]),
    ),
  }
}

/** The object that describes a part's file: the part itself, its `file`, or its `source`. */
const holderOf = (part: Item): Item => (part.file ?? part.source ?? part) as Item

/** The text of a file, and its bytes if they are here. A PDF without text has `pictures` instead. */
type Document = { text: string; pictures?: string[] | undefined; file?: { bytes: Uint8Array; mimeType: string } }

async function documentOf(deps: FileDeps, call: Call, part: Item, path: string): Promise<Document> {
  const by = { signal: call.signal, who: ownerOf(call.caller), whole: true as const }
  const { file_id: id, file_url: fileUrl, file_data: data, ...holder } = holderOf(part)
  const url = fileUrl ?? holder.url
  try {
    if (typeof url === 'string') return await deps.web.read(url, by)
    if (holder.type === 'text' && typeof holder.data === 'string') return { text: holder.data }
    const isStored = typeof id === 'string'
    const { body, contentType, type } = isStored
      ? { body: await uploaded(deps, call, id, path), contentType: '', type: '' }
      : bytesOf(data ?? holder.data, 'file', path)
    const { text, pictures } = await deps.web.readBytes({ contentType, body }, by)
    const isPdf = Buffer.from(body.subarray(0, 5)).toString('latin1') === '%PDF-'
    const named = typeByName(wordOf(holder.filename))
    const mimeType = isPdf ? 'application/pdf' : type && !type.endsWith('octet-stream') ? type : named
    return { text, pictures, file: { bytes: body, mimeType } }
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid' && error.param === undefined) throw atField(error, path)
    if (!(error instanceof WebFailure)) throw error
    throw invalidInput(path, `"${path}" cannot be read. ${error.message.replace(/\b(T|t)he address\b/g, '$1he file')}`)
  }
}

async function uploaded(deps: FileDeps, call: Call, id: string, path: string): Promise<Uint8Array> {
  const row = await findUpload(deps, deps.store.read, ownerOf(call.caller), id, path)
  assertSize(row.size_bytes, 'file', path)
  return new Uint8Array(await new Response(await deps.files.read(row)).arrayBuffer())
}

/** A recording in its original form, or its transcript, charged like `/audio/stt`. */
async function recordingOf(
  deps: FileDeps,
  call: Call,
  part: Item,
  path: string,
  { takes, hears }: { takes: boolean; hears: boolean },
): Promise<Document> {
  if (!takes && !hears) return { text: '' }
  const { data, format } = (part.input_audio ?? part) as Item
  const { body } = bytesOf(data, 'audio', `${path}.input_audio`)
  if (takes)
    return { text: 'A recording.', file: { bytes: body, mimeType: `audio/${wordOf(format, 'wav').slice(0, 16)}` } }
  const file = join(deps.folder, `audio-${randomHex(16)}`)
  await Bun.write(file, body)
  try {
    const { once: _, ...own } = call
    const { transcript } = await deps.audio.transcribe(own, { fields: new Map(), file: { field: 'file', path: file } })
    return { text: transcript.text }
  } catch (error) {
    // Always 400: the type of the body itself is right, only the recording in it is not.
    throw error instanceof AppError && error.param === 'file'
      ? invalidInput(`${path}.input_audio`, error.message)
      : error
  } finally {
    await unlink(file)
  }
}

function bytesOf(data: unknown, kind: keyof typeof MAX_MIB, path: string) {
  if (typeof data !== 'string' || !data)
    throw invalidInput(
      path,
      `"${path}" holds ${messageOf(data)} in place of a file. Send its bytes as base64, or a file_id.`,
    )
  const [head = '', type = ''] = DATA_URL.exec(data) ?? []
  const body = Buffer.from(data.slice(head.length), 'base64')
  if (!body.length) throw invalidInput(path, `"${path}" holds no bytes. Send the file as base64.`)
  assertSize(body.length, kind, path)
  // Clients often send application/octet-stream or application/pdf, so the bytes decide, except for text.
  return { body, contentType: AS_TEXT.test(type) ? type : '', type }
}

function assertSize(bytes: number, kind: keyof typeof MAX_MIB, path: string): void {
  if (bytes > MAX_MIB[kind] * 1024 ** 2)
    throw new AppError('validation_error', `"${path}" is larger than ${MAX_MIB[kind]} MiB.`, { param: path })
}
