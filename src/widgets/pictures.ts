import { assertAttachment } from '../completions'
import type { Attachment } from '../completions/schema'
import type { Draft, Files } from '../files'
import { invalidInput } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import type { WidgetRow } from './table'

/** What every browser draws and no browser runs. */
const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

type Image = Extract<Attachment, { data: string }>
export type Kept = { draft: Draft; image: Image }

/** Pictures that visitors attach, where their widget allows it: kept as files of the owner. */
export function createPictures(files: Pick<Files, 'receive' | 'add' | 'discard'>) {
  return { read, receive, keep, discarded }

  /** Throws 400 unless the widget takes pictures, and these are some. */
  function read({ behavior }: WidgetRow, attachments: readonly Attachment[]): Image[] {
    if (attachments.length && !behavior.enableFileUpload)
      throw invalidInput('attachments', 'This widget takes no attachments. Leave "attachments" out.')
    return attachments.map((attachment, at) => {
      const path = `attachments[${at}]`
      if (attachment.type !== 'image_base64')
        throw invalidInput(path, `"${path}" is an address. Send the picture itself, as image_base64.`)
      assertAttachment(attachment, `${path}.data`)
      return attachment
    })
  }

  /** Keeps the bytes; they belong to nobody yet. Throws 400 for what its bytes say is no picture (catalogue O5). */
  async function receive(images: readonly Image[]): Promise<Kept[]> {
    const kept: Kept[] = []
    for (const [at, image] of images.entries()) {
      const draft = await files
        .receive(Buffer.from(image.data, 'base64'), image.mime_type)
        .catch((error) => discarded(kept, error))
      kept.push({ draft, image: { ...image, mime_type: draft.mimeType as Image['mime_type'] } })
      if (!TYPES.includes(draft.mimeType)) await discarded(kept, noPicture(at))
    }
    return kept
  }

  async function keep(tx: Tx, { owner, id }: WidgetRow, kept: readonly Kept[]): Promise<Record<string, unknown>[]> {
    const made: Record<string, unknown>[] = []
    for (const { draft } of kept) {
      const about = { type: 'image' as const, filename: 'picture', engine: 'visitor', model: `widget ${id}` }
      made.push(await files.add(tx, owner, draft, about))
    }
    return made
  }

  /** The message was not stored, so its pictures go. */
  async function discarded(kept: readonly Kept[], error: unknown): Promise<never> {
    await Promise.all(kept.map(({ draft }) => files.discard(draft).catch(() => undefined)))
    throw error
  }
}

function noPicture(at: number) {
  const path = `attachments[${at}].data`
  return invalidInput(path, `"${path}" is no picture. Send the bytes of a PNG, JPEG, WebP or GIF.`)
}
