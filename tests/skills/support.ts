import type { Person, Reply } from '../support/world'

let made = 0

/** A manifest that passes every check on tier auto, under a slug of its own unless one is given. */
export const manifest = (members: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'Haiku writer',
  slug: `haiku-writer-${++made}`,
  version: '1.0.0',
  description: 'Writes haiku on request.',
  category: 'creative',
  author: { name: 'Ada' },
  systemPromptExtension: 'When asked for a poem, write a haiku of three lines.',
  ...members,
})

/** A manifest that a person must look at. */
export const staffManifest = (members: Record<string, unknown> = {}) =>
  manifest({ tools: [{ name: 'count_syllables', description: 'Counts syllables.' }], ...members })

export const securityManifest = (members: Record<string, unknown> = {}) =>
  staffManifest({ permissions: ['execute:tools', 'external:http', 'write:notes'], ...members })

export type Submitted = { reply: Reply; id: string; skillId: string; slug: string }

export async function submit(by: Person, written: Record<string, unknown>, rest: object = {}): Promise<Submitted> {
  const reply = await by.send('POST', 'skills/submit', { manifest: written, ...rest })
  const { id = '', skillId = '' } = reply.body?.submission ?? {}
  return { reply, id, skillId, slug: String(written.slug) }
}
