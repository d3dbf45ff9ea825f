import { describe, expect, test } from 'bun:test'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { canonicalEvent } from '../../src/audit/chain'
import { AuditEvent } from '../../src/audit/schema'
import { auditEvents } from '../../src/audit/table'
import { sha256Hex } from '../../src/kernel/crypto'
import { OrgId } from '../../src/kernel/ids'
import { checker } from '../../src/kernel/schema'
import { operatorCaller, sessionCaller } from '../support/callers'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { clock, someone, audit, verify } = createWorld(store)

describe('an event', () => {
  test('says who did what to what, with what came of it, and never the prompt', async () => {
    const ada = someone()
    const id = await ada.act({}, ada.caller, 'req_1')
    const [event] = (await ada.list()).items
    expect(event).toEqual({
      id,
      action: 'completion.created',
      entityType: 'completion',
      entityId: 'cmpl_1',
      userId: ada.caller.userId,
      timestamp: '2026-01-01T00:00:00.000Z',
      inputSummary: {
        method: 'POST',
        endpoint: '/completions',
        api_key_id: ada.caller.keyId,
        mode: 'fast',
        prompt_sha256: 'ab'.repeat(32),
        prompt_length: 12,
      },
      outputSummary: {
        status: 200,
        engine: 'svc-1-flash',
        cost_cents: 0.02,
        fallback_used: false,
        request_id: 'req_1',
      },
      orgId: null,
      apiKeyId: ada.caller.keyId,
      requestId: 'req_1',
      prevHash: '0'.repeat(64),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(checker(AuditEvent).issues(event)).toEqual([])
  })

  test('of an org key stands in the chain of its org', async () => {
    const orgId = OrgId.create()
    const ada = someone({ orgId })
    await ada.act()
    expect(ada.scope).toBe(`org:${orgId}`)
    expect((await ada.list()).items[0]?.orgId).toBe(orgId)
  })

  test('by an operator says what they state about themselves, in the chain they name or the one of the server', async () => {
    const ada = someone()
    await ada.act({ action: 'key.updated', entityType: 'api_key', scope: ada.scope }, operatorCaller())
    const [event] = (await ada.list()).items
    expect(event).toMatchObject({ userId: null, apiKeyId: null })
    expect(event?.inputSummary.operator).toEqual({
      name: 'priya',
      role: 'admin',
      transport: 'socket',
      reason: 'ticket 7',
    })
    await ada.act({ action: 'engine.added', entityType: 'engine' }, operatorCaller())
    expect((await audit.list(store.read, 'server', { limit: 1 })).items[0]?.action).toBe('engine.added')
  })

  test('by a session names its user and no key', async () => {
    const session = sessionCaller()
    const ada = someone({ userId: session.userId })
    await ada.act({}, session)
    expect((await ada.list()).items[0]).toMatchObject({ userId: session.userId, apiKeyId: null })
  })

  test('that is too long loses its largest members and says which', async () => {
    const ada = someone()
    await ada.act({
      input: { mode: 'fast', prompt_length: 3, metadata: { note: 'é'.repeat(3_000) }, skills: ['s'.repeat(300)] },
    })
    const [event] = (await ada.list()).items
    expect(event?.inputSummary).toMatchObject({ mode: 'fast', prompt_length: 3, truncated: ['metadata'] })
    expect(event?.inputSummary.metadata).toBeUndefined()
    expect((await ada.list({ mode: 'fast' })).items).toHaveLength(1)
  })

  test('with half a surrogate pair in it is still recorded', async () => {
    const ada = someone()
    await ada.act({ input: { metadata: { note: 'half \ud83d' } } })
    expect((await ada.list()).items).toHaveLength(1)
  })
})

describe('the chain', () => {
  test('links each event to the one before it, one chain an owner', async () => {
    const [ada, eve] = [someone(), someone()]
    for (let turn = 0; turn < 3; turn++) await Promise.all([ada.act(), eve.act()])
    for (const owner of [ada, eve]) {
      const events = (await owner.list()).items.reverse()
      expect(events.map(({ prevHash }) => prevHash)).toEqual(['0'.repeat(64), events[0]!.hash, events[1]!.hash])
    }
  })

  test('can be verified by anyone from what the API gives out', async () => {
    const ada = someone()
    for (let turn = 0; turn < 5; turn++) await ada.act({ entityId: `cmpl_${turn}` })
    for (const { hash, ...event } of (await ada.list()).items) {
      expect(sha256Hex(event.prevHash + canonicalize(event))).toBe(hash)
    }
  })

  test('stays whole when two hundred units race for its first places', async () => {
    const ada = someone()
    await Promise.all(Array.from({ length: 200 }, () => ada.act()))
    expect(new Set((await ada.list({ limit: 100 })).items.map(({ prevHash }) => prevHash)).size).toBe(100)
    expect(await verify()).toEqual([])
  })

  test('forgets an event whose unit was rolled back (I19)', async () => {
    const ada = someone()
    await ada.act()
    const lost = store.write(async (tx) => {
      await audit.recordUnattended(
        tx,
        { scope: ada.scope, requestId: 'req_lost' },
        { action: 'key.created', entityType: 'api_key', entityId: null },
      )
      throw new Error('the effect failed')
    })
    await expect(lost).rejects.toThrow('the effect failed')
    await ada.act()
    expect((await ada.list()).items.map(({ action }) => action)).toEqual(['completion.created', 'completion.created'])
    expect(await verify()).toEqual([])
  })

  test('never goes back in time, though the clock does (I40)', async () => {
    const ada = someone()
    await ada.act()
    clock.advance(-86_400_000)
    await ada.act()
    clock.advance(86_400_000)
    const [second, first] = (await ada.list()).items
    expect(second?.timestamp).toBe(first!.timestamp)
  })

  test('hashes exactly what RFC 8785 says, whatever the values', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed())
    const maybe = fc.option(text)
    fc.assert(
      fc.property(text, maybe, maybe, fc.dictionary(text, fc.jsonValue()), (action, entity, user, summary) => {
        const input = canonicalize(JSON.parse(JSON.stringify(summary).toWellFormed()))!
        const row = {
          action,
          entity_id: entity,
          user_id: user,
          api_key_id: null,
          org_id: null,
          entity_type: 'completion',
          id: 'x' as never,
          at: 0,
          request_id: 'r',
          input,
          output: '{}',
          prev_hash: 'p',
        }
        const event = {
          id: 'x',
          action,
          entityType: 'completion',
          entityId: entity,
          userId: user,
          timestamp: '1970-01-01T00:00:00.000Z',
          inputSummary: JSON.parse(input),
          outputSummary: {},
          orgId: null,
          apiKeyId: null,
          requestId: 'r',
          prevHash: 'p',
        }
        expect(canonicalEvent(row)).toBe(canonicalize(event)!)
      }),
    )
  })
})

test('no statement changes or removes an event (I21)', async () => {
  await someone().act()
  const changed = store.write(async (tx) => void (await tx.update(tx.of(auditEvents)).set({ action: 'x' })))
  await expect(changed).rejects.toThrow()
  await expect(store.write(async (tx) => void (await tx.delete(tx.of(auditEvents))))).rejects.toThrow()
})

/** What stands in the record of an event with this metadata. */
async function recorded(metadata: Record<string, unknown>) {
  const ada = someone()
  await ada.act({ input: { metadata } })
  return (await ada.list()).items[0]!.inputSummary.metadata
}

const TOKEN = ['ghp', 'Zk3Qm8Vt1Rw6Yb9Nc2Xd5Lf7Hj4Gp0'].join('_')

describe('secrets in metadata (docs/api.md 19)', () => {
  test.each([
    'password',
    'PASSWORD',
    'dbPassword',
    'old_password_2',
    'token',
    'refreshToken',
    'access_token',
    'tokens',
    'authorization',
    'Proxy-Authorization',
    'X-Api-Key',
    'apikey',
    'client_secret',
    'secrets',
    'credentials',
    'pin',
    'signingKey',
    'session cookie',
    'passwort',
    '密码',
  ])('what is called %s is never recorded', async (name) => {
    expect(await recorded({ [name]: 'swordfish', ticket: 7 })).toEqual({ [name]: '[redacted]', ticket: 7 })
  })

  test.each([
    ['ticket', 'OPS-17'],
    ['max_tokens', 500],
    ['token_count', 12],
    ['token_limit', 'high'],
    ['author', 'Ada'],
    ['authority', 'EU'],
    ['compass', 'north'],
    ['spin', 'left'],
    ['secretary', 'Ada'],
    ['key', 'value'],
    ['session_id', 's-1'],
    ['customer_id', 'b5a5b2d2-58f5-4e2f-b58c-0d9f4e4a8f3e'],
    ['password', null],
    ['password', ''],
    ['has_token', false],
  ])('%s: %p is no secret', async (name, value) => {
    expect(await recorded({ [name]: value })).toEqual({ [name]: value })
  })

  test('numbers, lists and objects behind such a name go as a whole', async () => {
    const metadata = { pin: 1234, token: ['a', 'b'], auth: { user: 'ada', word: 'swordfish' } }
    expect(await recorded(metadata)).toEqual({ pin: '[redacted]', token: '[redacted]', auth: '[redacted]' })
  })

  test('at any depth, in lists, and where the name stands beside the value', async () => {
    expect(
      await recorded({
        a: { b: [{ password: 'swordfish', c: 1 }, [{ token: 'swordfish' }]] },
        headers: [
          { name: 'Authorization', value: 'swordfish' },
          { name: 'Accept', value: '*/*' },
        ],
      }),
    ).toEqual({
      a: { b: [{ password: '[redacted]', c: 1 }, [{ token: '[redacted]' }]] },
      headers: [
        { name: 'Authorization', value: '[redacted]' },
        { name: 'Accept', value: '*/*' },
      ],
    })
  })

  test.each([
    ['a key', TOKEN],
    ['a key in a sentence', `Use ${TOKEN} for the build.`],
    ['a key in wide letters', TOKEN.replaceAll('Z', 'Ｚ')],
    ['an address with a password', ['postgres://ada', 'Tr0ub4dor@db.internal:5432/app'].join(':')],
    ['a setting', 'password=Tr0ub4dor&3'],
  ])('a text that holds %s is never recorded, whatever it is called', async (_, text) => {
    expect(await recorded({ note: text, list: ['plain', text] })).toEqual({
      note: '[redacted]',
      list: ['plain', '[redacted]'],
    })
  })

  test('an id is recorded, also if its digits are grouped like those of a card', async () => {
    const run_id = '71b4e599-2573-4082-9728-5a2c87473f96'
    expect(await recorded({ run_id })).toEqual({ run_id })
  })

  test.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    'Paid with 5555-5555-5555-4444 today',
    'card_378282246310005',
    '4000000000000000006',
    '６０１１１１１１１１１１１１１７',
    '6759649826438453',
  ])('the number of a card, %s, is never recorded, whatever it is called', async (number) => {
    expect(await recorded({ note: number, list: [number], [number]: 1 })).toEqual({
      note: '[redacted]',
      list: ['[redacted]'],
      '[redacted]': 1,
    })
  })

  test('nor is that number as a number', async () => {
    expect(await recorded({ order: 4_111_111_111_111_111, at: [{ n: 4_111_111_111_111_111 }] })).toEqual({
      order: '[redacted]',
      at: [{ n: '[redacted]' }],
    })
  })

  test.each(['4111111111111112', '1764350000000', '20261128173039', '+49 30 901820', 'SKU-0004711'])(
    '%s is no card',
    async (text) => {
      expect(await recorded({ note: text })).toEqual({ note: text })
    },
  )

  test('nor is a name that is a key', async () => {
    expect(await recorded({ [TOKEN]: 1 })).toEqual({ '[redacted]': 1 })
  })

  test('nothing of the caller’s is changed, and the chain holds', async () => {
    const metadata = { password: 'swordfish', in: { token: 'swordfish' } }
    await recorded(metadata)
    expect(metadata).toEqual({ password: 'swordfish', in: { token: 'swordfish' } })
    expect(await verify()).toEqual([])
  })
})
