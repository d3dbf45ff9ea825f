import { describe, expect, test } from 'bun:test'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const { someone, verify } = createWorld(store)

/** What stands in the record of an event with this metadata. */
async function recorded(metadata: Record<string, unknown>) {
  const ada = someone()
  await ada.act({ input: { metadata } })
  return (await ada.list()).items[0]!.inputSummary.metadata
}

const TOKEN = ['ghp', 'Zk3Qm8Vt1Rw6Yb9Nc2Xd5Lf7Hj4Gp0'].join('_')

describe('secrets in metadata (contract 19)', () => {
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
