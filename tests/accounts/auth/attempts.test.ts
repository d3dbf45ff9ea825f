import { describe, expect, test } from 'bun:test'
import { signInFailures, signInPlaces } from '../../../src/accounts/auth/table'
import { openTestStore } from '../../support/store'
import { createAuthWorld, visit } from './world'

const store = await openTestStore()
const PASSWORD = 'correct horse battery'
const QUARTER = 15 * 60_000

let networks = 0
/** An address that nobody used before. */
const somewhere = () => `198.18.${Math.floor(++networks / 250)}.${networks % 250}`

type Auth = ReturnType<typeof createAuthWorld>['auth']

/** The code of the refusal, or null for a session. */
const signIn = (auth: Auth, email: string, password: string, ip: string): Promise<string | null> =>
  auth.signIn(visit('POST /auth/sessions', ip), { email, password }).then(
    () => null,
    (error) => error.code as string,
  )

const tally = (codes: readonly (string | null)[]) => ({
  tried: codes.filter((code) => code === 'invalid_credentials').length,
  refused: codes.filter((code) => code === 'rate_limit_exceeded').length,
})

describe('guesses', () => {
  test.each([
    ['an account', true],
    ['an account that does not exist', false],
  ])('at %s from 30 addresses and through two nodes: ten are tried', async (_, exists) => {
    const nodes = [createAuthWorld(store), createAuthWorld(store)]
    const email = exists ? (await nodes[0]!.join(PASSWORD)).user.email : `${crypto.randomUUID()}@example.com`
    const addresses = Array.from({ length: 30 }, somewhere)
    const guesses = Array.from({ length: 60 }, (_, n) =>
      signIn(nodes[n % 2]!.auth, email, `guess ${n}`, addresses[n % 30]!),
    )
    expect(tally(await Promise.all(guesses))).toEqual({ tried: 10, refused: 50 })
    expect(await signIn(nodes[0]!.auth, email, PASSWORD, somewhere())).toBe('rate_limit_exceeded')
    for (const { clock } of nodes) clock.advance(QUARTER)
    expect(await signIn(nodes[0]!.auth, email, PASSWORD, somewhere())).toBe(exists ? null : 'invalid_credentials')
  })

  test('at many accounts from one network are a hundred', async () => {
    const { auth, attempts } = createAuthWorld(store)
    const ip = somewhere()
    for (let n = 0; n < 99; n++) await attempts.begin(`${n}@example.com`, ip)
    const codes = [await signIn(auth, '99@example.com', 'x', ip), await signIn(auth, '100@example.com', 'x', ip)]
    expect(codes).toEqual(['invalid_credentials', 'rate_limit_exceeded'])
  })

  test('do not lock out an owner who comes from where they signed in before', async () => {
    const { auth, join, attempts } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    const [home, office] = [somewhere(), somewhere()]
    expect(await signIn(auth, user.email, PASSWORD, home)).toBeNull()
    for (let n = 0; n < 10; n++) await attempts.begin(user.email, somewhere())
    for (let n = 0; n < 100; n++) await attempts.begin(`other ${n}@example.com`, home).catch(() => null)
    expect(await signIn(auth, user.email, PASSWORD, home)).toBeNull()
    expect(await signIn(auth, user.email, PASSWORD, office)).toBe('rate_limit_exceeded')
  })

  test('from where the owner signed in before are ten, too, and are no others’ failures', async () => {
    const { auth, join, attempts } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    const home = somewhere()
    await signIn(auth, user.email, PASSWORD, home)
    for (let n = 0; n < 10; n++) await attempts.begin(user.email, home)
    expect(await signIn(auth, user.email, PASSWORD, home)).toBe('rate_limit_exceeded')
    expect(await signIn(auth, user.email, PASSWORD, somewhere())).toBeNull()
  })
})

describe('right passwords', () => {
  test('are not counted, in any number and concurrently', async () => {
    const { auth, join } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    const ip = somewhere()
    const codes = await Promise.all(Array.from({ length: 40 }, () => signIn(auth, user.email, PASSWORD, ip)))
    expect(codes.every((code) => code === null)).toBe(true)
    expect(tally(await Promise.all([1, 2, 3].map((n) => signIn(auth, user.email, `x${n}`, ip))))).toEqual({
      tried: 3,
      refused: 0,
    })
  })

  test('take back only themselves', async () => {
    const { auth, join } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    for (let n = 0; n < 9; n++) await signIn(auth, user.email, `x${n}`, somewhere())
    expect(await signIn(auth, user.email, PASSWORD, somewhere())).toBeNull()
    expect(await signIn(auth, user.email, 'x', somewhere())).toBe('invalid_credentials')
    expect(await signIn(auth, user.email, 'x', somewhere())).toBe('rate_limit_exceeded')
  })
})

describe('what is kept', () => {
  const count = async (table: typeof signInFailures | typeof signInPlaces) =>
    (await store.read.select().from(store.read.of(table as typeof signInFailures))).length

  test('names no account and no address, and goes when it no longer counts', async () => {
    const { auth, join, attempts, clock } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    const ip = somewhere()
    await signIn(auth, user.email, PASSWORD, ip)
    await signIn(auth, user.email, 'x', somewhere())
    const stored = JSON.stringify([
      await store.read.select().from(store.read.of(signInFailures)),
      await store.read.select().from(store.read.of(signInPlaces)),
    ])
    expect(stored).not.toContain(user.email)
    expect(stored).not.toContain(ip)
    clock.advance(8 * QUARTER)
    await attempts.tidy()
    expect(await count(signInFailures)).toBe(0)
    expect((await count(signInPlaces)) > 0).toBe(true)
    clock.advance(91 * 24 * 3_600_000)
    await attempts.tidy()
    expect(await count(signInPlaces)).toBe(0)
  })

  test('is the last 20 networks of an account', async () => {
    const { attempts, clock, store: one } = createAuthWorld(store)
    const before = await count(signInPlaces)
    for (const ip of Array.from({ length: 25 }, somewhere)) {
      await one.write((tx) => attempts.welcome(tx, 'traveller@example.com', ip))
      clock.advance(1)
    }
    expect((await count(signInPlaces)) - before).toBe(20)
  })
})
