import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresUrl } from '../support/store'
import { eventually, startTarget } from './support'
import { parseChat, parseNative } from './support/frames'
import { keepsItsPromises } from './support/oracle'
import { grant } from './support/people'
import { spawnServer } from './support/server'
import { type OpenStream, openStream } from './support/stream'

/** A: an answer does not outlive the right to it. Each stream says one word and would then be silent for 600 s. */

const target = await startTarget()
const { people } = target

type Running = { stream: OpenStream; prompt: string }
type Way = {
  what: string
  code: string
  /** The credential of the stream, and what ends it. */
  from(person: Person): Promise<{ credential: string; end(): Promise<unknown> }>
}
type Person = Awaited<ReturnType<typeof signedUp>>

let requested = 0

/** A person of their own, in a session, with credit and a key. */
async function signedUp() {
  const { key, keyId, email } = await people.newcomer({ cents: 100 })
  const password = `pw-${email}-canary-7f3a`
  const session = async () =>
    (await target.send('POST', 'auth/sessions', { as: null, body: { email, password } })).body.session_token as string
  return { email, key, keyId, token: await session(), session }
}

const as = (token: string, method: string, path: string, body?: object) =>
  target.send(method, path, { key: token, ...(body ? { body } : {}) })

/** An org with one more owner, in which the person works. */
async function inAnOrg(person: Person) {
  const boss = await signedUp()
  const org = (await as(boss.token, 'POST', 'orgs', { name: 'Acme' })).body.id as string
  const invited = await as(boss.token, 'POST', `orgs/${org}/invitations`, { email: person.email, role: 'admin' })
  await as(person.token, 'POST', `invitations/${invited.body.token}/accept`)
  await as(person.token, 'POST', `orgs/${org}/activate`)
  await grant(target, org, 100)
  const me = (await as(person.token, 'GET', 'auth/me')).body.user.id as string
  return { org, remove: () => as(boss.token, 'DELETE', `orgs/${org}/members/${me}`) }
}

const ways: Way[] = [
  {
    what: 'a revoked key',
    code: 'invalid_api_key',
    from: async ({ key, keyId, token }) => ({ credential: key, end: () => as(token, 'DELETE', `keys/${keyId}`) }),
  },
  {
    what: 'a key that was rotated without grace',
    code: 'invalid_api_key',
    from: async ({ key, keyId, token }) => ({
      credential: key,
      end: () => as(token, 'POST', `keys/${keyId}/rotate`, { grace_period_seconds: 0 }),
    }),
  },
  {
    what: 'a key that expires',
    code: 'invalid_api_key',
    from: async ({ key, keyId, token }) => ({
      credential: key,
      end: () => as(token, 'PUT', `keys/${keyId}`, { expires_at: new Date(Date.now() + 500).toISOString() }),
    }),
  },
  {
    what: "a disabled person's key",
    code: 'invalid_api_key',
    from: async ({ key, email }) => ({
      credential: key,
      end: () => target.ops('PATCH', `/ops/v1/users/${encodeURIComponent(email)}`, { disabled: true }),
    }),
  },
  {
    what: "a disabled person's session",
    code: 'invalid_session',
    from: async ({ token, email }) => ({
      credential: token,
      end: () => target.ops('PATCH', `/ops/v1/users/${encodeURIComponent(email)}`, { disabled: true }),
    }),
  },
  {
    what: 'a session that is signed out',
    code: 'invalid_session',
    from: async ({ session }) => {
      const credential = await session()
      return { credential, end: () => as(credential, 'DELETE', 'auth/sessions') }
    },
  },
  {
    what: 'an org key of a removed member',
    code: 'invalid_api_key',
    from: async (person) => {
      const { org, remove } = await inAnOrg(person)
      const made = await as(person.token, 'POST', 'keys', { scope: 'org', org_id: org })
      return { credential: made.body.key, end: remove }
    },
  },
  {
    what: 'a session of a removed member, in the context of the org',
    code: 'forbidden',
    from: async (person) => ({ credential: person.token, end: (await inAnOrg(person)).remove }),
  },
]

const spoken = async (credential: string, node = target, path = 'completions'): Promise<Running> => {
  const prompt = `[[stall]][[say:word]] ${++requested}`
  const input =
    path === 'completions'
      ? { prompt, mode: 'fast' }
      : { messages: [{ role: 'user', content: prompt }], model: 'svc-1-flash' }
  const stream = await openStream(node, credential, path, input)
  await stream.heard('word')
  return { stream, prompt }
}

const aborted = (prompt: string) =>
  eventually(
    () => target.upstream.calls.find((call) => call.prompt.includes(prompt))!,
    (call) => call.aborted,
  )

describe('A. streams after their credential', () => {
  test.each(ways.map((way) => [way.what, way] as const))('A21 %s: an error, the engine stopped', async (_, way) => {
    const { credential, end } = await way.from(await signedUp())
    const { stream, prompt } = await spoken(credential)
    await end()
    const last = parseNative(await stream.toItsEnd()).at(-1)!
    expect(last).toMatchObject({ event: 'error', data: { error: { code: way.code, request_id: expect.any(String) } } })
    await aborted(prompt)
  })

  test('A21 what was said is paid for and on the record, another key goes on', async () => {
    const person = await signedUp()
    const other = await as(person.token, 'POST', 'keys', {})
    const [ended, stored] = [await spoken(person.key), await spoken(other.body.key)]
    await as(person.token, 'DELETE', `keys/${person.keyId}`)
    expect(parseNative(await ended.stream.toItsEnd()).at(-1)!.event).toBe('error')
    const spent = await target.moneyOf(person.email)
    expect(spent.balance).toBeLessThan(100)
    const { body: events } = await as(person.token, 'GET', 'audit?action=completion.failed')
    expect(events).toMatchObject([{ outputSummary: { status: 401, error_code: 'invalid_api_key' } }])
    expect(events[0].outputSummary.cost_cents).toBeCloseTo(100 - spent.balance, 6)

    await as(person.token, 'DELETE', `keys/${other.body.id}`)
    expect(parseNative(await stored.stream.toItsEnd()).at(-1)!.event).toBe('error')
    expect((await target.moneyOf(person.email)).held).toBe(0)
  })

  test('A21 a chat stream reports it in one frame, then sends [DONE]', async () => {
    const { key, keyId, token } = await signedUp()
    const { stream } = await spoken(key, target, 'chat/completions')
    await as(token, 'DELETE', `keys/${keyId}`)
    const chunks = parseChat(await stream.toItsEnd())
    expect(chunks.at(-1).error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' })
  })

  test.if(postgresUrl !== undefined)('A21 the same when another node is told', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-catalogue-'))
    copyFileSync(join(target.folder, 'secrets.json'), join(folder, 'secrets.json'))
    const node = await spawnServer(
      { SVC_DATABASE_URL: target.databaseUrl!, SVC_ENGINE_BASE_URL: target.upstream.url },
      folder,
    )
    afterAll(() => node.kill())
    const { key, keyId, token } = await signedUp()
    const { stream, prompt } = await spoken(key, { ...target, url: node.url })
    await as(token, 'DELETE', `keys/${keyId}`)
    expect(parseNative(await stream.toItsEnd()).at(-1)!.data.error.code).toBe('invalid_api_key')
    await aborted(prompt)
  })
})

keepsItsPromises(target, {})
