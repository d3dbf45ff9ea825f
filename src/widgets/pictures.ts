import { assertAttachment, base64Of } from '../completions'
import type { Attachment } from '../completions/schema'
import type { Draft } from '../files'
import type { ArtifactId } from '../files/schema'
import { AppError, invalidInput } from '../kernel/errors'
import { describeRejectedImage, reencodeImage } from '../kernel/pictures'
import type { Tx } from '../kernel/store'
import type { Deps } from './deps'
import { widgetErrors } from './errors'
import { presentMessage } from './repository'
import type { WidgetMessage } from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'

/** Image formats that every browser displays and none executes, with their output format. */
const DRAWN = { png: 'png', jpeg: 'jpeg', webp: 'webp' } as const
const QUALITY = 90
const GIF = Buffer.from('GIF8')

type Image = Extract<Attachment, { data: string }>
export type Stored = { draft: Draft; image: Image }

/** Throws 400 unless the widget accepts pictures and all attachments are pictures. */
export function readPictures({ behavior }: WidgetRow, attachments: readonly Attachment[]): Image[] {
  if (attachments.length && !behavior.enableFileUpload)
    throw invalidInput('attachments', 'This widget does not accept attachments. Leave "attachments" out.')
  return attachments.map((attachment, at) => {
    const path = `attachments[${at}]`
    if (attachment.type !== 'image_base64')
      throw invalidInput(path, `"${path}" is an address. Send the picture itself, as image_base64.`)
    assertAttachment(attachment, `${path}.data`)
    return attachment
  })
}

/** Stores the pixels as drafts without an owner. Throws 400 if the bytes are not a picture. */
export async function receivePictures(deps: Deps, images: readonly Image[]): Promise<Stored[]> {
  const { files } = deps
  const stored: Stored[] = []
  for (const [at, image] of images.entries()) {
    const bytes = Buffer.from(base64Of(image.data), 'base64')
    const clean = await bare(bytes)
    if (!clean) return discardPictures(deps, stored, noPicture(at, bytes))
    const draft = await files.receive(clean.bytes, clean.type).catch((error) => discardPictures(deps, stored, error))
    const data = clean.bytes.toString('base64')
    stored.push({ draft, image: { ...image, data, mime_type: draft.mimeType } })
    if (draft.mimeType !== clean.type) await discardPictures(deps, stored, noPicture(at, bytes))
  }
  return stored
}

/** Adds the drafts to the owner's files. Throws 503 without details if the storage is full (docs/attacks.md O14). */
export async function keepPictures(
  { files }: Deps,
  tx: Tx,
  { owner, id }: WidgetRow,
  stored: readonly Stored[],
): Promise<Record<string, unknown>[]> {
  const made: Record<string, unknown>[] = []
  for (const { draft } of stored) {
    const about = { type: 'image' as const, filename: 'picture', engine: 'visitor', model: `widget ${id}` }
    made.push(
      await files.add(tx, owner, draft, about).catch((error) => {
        throw error instanceof AppError && error.kind === 'conflict'
          ? widgetErrors.cannotKeep.with({ cause: error })
          : error
      }),
    )
  }
  return made
}

/** Messages with fresh links to their files, because links expire. A deleted file has no link. */
export function shownMessages(
  { files, store }: Deps,
  { owner }: Pick<SessionRow, 'owner'>,
  messages: readonly MessageRow[],
): Promise<WidgetMessage[]> {
  const fresh = async (artifact: Record<string, unknown>) => {
    if (typeof artifact.id !== 'string' || artifact.url == null) return artifact
    return (await files.find(store.read, owner, artifact.id as ArtifactId)) ?? { ...artifact, url: null }
  }
  return Promise.all(
    messages.map(async (row) => presentMessage({ ...row, artifacts: await Promise.all(row.artifacts.map(fresh)) })),
  )
}

/** Discards the pictures of a message that was not stored. */
export async function discardPictures({ files }: Deps, stored: readonly Stored[], error: unknown): Promise<never> {
  await Promise.all(stored.map(({ draft }) => files.discard(draft).catch(() => undefined)))
  throw error
}

/** Keeps only the pixels, so that nobody learns where a visitor took a photograph. A GIF stays animated. */
async function bare(bytes: Buffer): Promise<{ bytes: Buffer; type: string } | null> {
  if (bytes.subarray(0, GIF.length).equals(GIF)) return { bytes, type: 'image/gif' }
  const drawn = await reencodeImage(bytes, {
    as: (format) => DRAWN[format as keyof typeof DRAWN] ?? 'png',
    quality: QUALITY,
  })
  return drawn && { bytes: Buffer.from(drawn.bytes), type: `image/${drawn.format}` }
}

function noPicture(at: number, bytes: Buffer) {
  const path = `attachments[${at}].data`
  return invalidInput(path, `"${path}" ${describeRejectedImage(bytes)}.`)
}
