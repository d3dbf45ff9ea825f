import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '../../src/files'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Person, World } from '../support/world'

/** A PNG of one pixel. */
export const PIXEL: Buffer<ArrayBuffer> = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export const ownerOf = ({ userId, orgId }: Pick<Person, 'userId' | 'orgId'>): OwnerScope =>
  orgId ? `org:${orgId}` : `user:${userId}`

type Input = { filename?: string; mimeType?: string; type?: 'image' | 'file' | 'document' | 'video' }

/** Keeps bytes as an artifact of this person, as a module that made them would. */
export const saveFor = (world: World, person: Pick<Person, 'userId' | 'orgId'>, bytes: Source, input: Input = {}) =>
  world.app.container.files.save(ownerOf(person), bytes, {
    type: input.type ?? 'image',
    filename: input.filename ?? 'pixel.png',
    mimeType: input.mimeType ?? 'image/png',
    engine: 'svc-vision',
    model: 'svc-1-create',
    prompt: 'a pixel',
    width: 1,
    height: 1,
  })

/** Sends a file as clients do, and returns its id. */
export async function sendFile(
  person: Person,
  text = 'A text of theirs',
  purpose = 'user_data',
  filename = 'theirs.txt',
): Promise<string> {
  const form = new FormData()
  form.set('purpose', purpose)
  form.set('file', new File([text], filename))
  return (await person.send('POST', 'files', form)).body.id
}

/** The body of a batch of one line, whose file this person has sent. */
export async function batchOf(person: Person) {
  const endpoint = '/v1/chat/completions'
  const body = { messages: [{ role: 'user', content: 'One line' }] }
  const line = JSON.stringify({ custom_id: 'one', method: 'POST', url: endpoint, body })
  return { input_file_id: await sendFile(person, line, 'batch'), endpoint, completion_window: '24h' }
}

/** The path and query of a link, for `send`. */
export const pathOf = (url: string | null): string => {
  const { pathname, search } = new URL(url!)
  return pathname + search
}

/** Names of all kept bytes; drafts that are being written are not among them. */
export const storedIn = (folder: string): string[] =>
  readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('incoming'))
    .map(({ name }) => name)

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Bytes that nothing recognizes, the same for the same seed. */
export function noise(length: number, seed = 1): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length)
  let state = seed >>> 0 || 1
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes
}
