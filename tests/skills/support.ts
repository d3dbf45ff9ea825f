import type { Person, Reply, World } from '../support/world'

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

export async function submit(
  by: Pick<Person, 'send'>,
  written: Record<string, unknown>,
  rest: object = {},
): Promise<Submitted> {
  const reply = await by.send('POST', 'skills/submit', { manifest: written, ...rest })
  const { id = '', skillId = '' } = reply.body?.submission ?? {}
  return { reply, id, skillId, slug: String(written.slug) }
}

let accounts = 0

/** Someone signed in to the dashboard with a platform role. */
export async function reviewer(world: World, role: 'reviewer' | 'security_reviewer' | 'admin' = 'admin') {
  const account = { email: `judge${++accounts}@example.com`, password: 'correct horse battery staple' }
  const passwordHash = await Bun.password.hash(account.password)
  const { orgs } = world.app.container
  const wanted = { email: account.email, passwordHash, platformRole: role }
  const user = await world.app.store.write((tx) => orgs.createUser(tx, wanted))
  const { body } = await world.send('POST', 'auth/sessions', account)
  const authorization = `Bearer ${body.session_token}`
  const send: Person['send'] = (method, path, sent, headers = {}) =>
    world.send(method, path, sent, { authorization, ...headers })
  const decide = (id: string, decision: string, reason?: string) =>
    send('POST', `skills/submissions/${id}/review`, { decision, ...(reason ? { reason } : {}) })
  return { userId: user.id, send, decide }
}
