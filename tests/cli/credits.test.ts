// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ ofOrg: true, cents: 0 })
const org = await world.app.container.orgs.find(world.app.store.read, ada.orgId!)

const { json } = run
const balanceOf = async (owner: string) => (await json(`credits balance ${owner}`)).available_cents

describe('credits grant', () => {
  test('adds currency or cents, and prints what the owner has now', async () => {
    expect(await json(`credits grant ${ada.orgId} 10.00 --reason pilot`)).toMatchObject({
      object: 'credit_grant',
      amount_cents: 1_000,
      available_cents: 1_000,
      already: false,
    })
    expect((await json(`credits grant ${ada.orgId} 50c --reason pilot`)).available_cents).toBe(1_050)
  })

  test('knows an owner by id, slug, name or e-mail address', async () => {
    for (const owner of [org.slug, org.name, `org:${org.id}`]) {
      expect((await json(['credits', 'grant', owner, '1c', '--reason', 'x'])).id).toBe(`org:${org.id}`)
    }
    const { email } = (await world.app.container.orgs.user(world.app.store.read, ada.userId))!
    expect((await json(`credits grant ${email} 7c --reason x`)).id).toBe(`user:${ada.userId}`)
    expect(await balanceOf(ada.userId)).toBe(7)
  })

  test('happens once for each idempotency key', async () => {
    const before = await balanceOf(org.slug)
    const line = ['credits', 'grant', org.slug, '5.00', '--reason', 'once', '--idempotency-key', 'order-1182']
    expect((await json(line)).already).toBe(false)
    expect((await run(line)).stderr).toBe('grant_order-1182 was already granted. Nothing was added.\n')
    expect(await balanceOf(org.slug)).toBe(before + 500)
  })

  test('goes on the record of the owner with the reason and who gave it', async () => {
    await run(`credits grant ${org.slug} 3.00 --reason goodwill`)
    const page = await world.app.container.audit.list(world.app.store.read, `org:${org.id}`, { limit: 1 })
    expect(page.items[0]).toMatchObject({
      action: 'credits.granted',
      inputSummary: { metadata: { amount_cents: 300 }, operator: { reason: 'goodwill', transport: 'socket' } },
    })
  })

  test.each([
    ['without a reason', ['credits', 'grant', 'acme', '1.00'], 2],
    ['to nobody known', ['credits', 'grant', 'nobody', '1.00', '--reason', 'x'], 3],
    ['of a large sum nobody confirmed', ['credits', 'grant', 'acme', '1000.01', '--reason', 'x'], 2],
  ])('is refused %s', async (_why, line, exitCode) => {
    expect(await run(line)).toMatchObject({ exitCode, stdout: '' })
  })

  test('of a large sum goes through with --yes', async () => {
    expect((await run(`credits grant ${org.slug} 1000.01 --reason x -y`)).exitCode).toBe(0)
  })
})

describe('credits grant --expires', () => {
  test('adds credit that ends, which the balance and the usage of its owner tell of', async () => {
    const line = ['credits', 'grant', org.slug, '20.00', '--expires', '30d', '--reason', 'trial']
    const clock = fakeClock(new Date().toISOString())
    const { expires_at } = JSON.parse((await run([...line, '--json'], { clock })).stdout)
    expect(Date.parse(expires_at)).toBe(clock.now() + 30 * 86_400_000)
    const expiring = [{ amount_cents: 2_000, expires_at }]
    expect(await json(`credits balance ${org.slug}`)).toMatchObject({ expiring })
    expect((await ada.send('GET', 'usage')).body.balance).toMatchObject({ expiring })
    expect((await run(`credits balance ${org.slug}`)).stdout).toMatch(/^expiring¢ +2000\.00$/m)
  })

  test.each([
    ['an end that is over', ['--expires', '2020-01-01'], /not in the future/],
    ['an end that is no time', ['--expires', 'soon'], /--expires is "soon"/],
    ['an end of what was paid for', ['--expires', '30d', '--checkout', crypto.randomUUID()], /does not expire/],
  ])('is refused with %s', async (_what, flags, sentence) => {
    const owner = flags.includes('--checkout') ? [] : [org.slug, '1.00']
    const { exitCode, stdout, stderr } = await run(['credits', 'grant', ...owner, ...flags, '--reason', 'x'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(sentence)
  })
})

test('credits balance shows what running calls hold', async () => {
  const { billing, store } = world.app.container
  const caps = { daily: null, monthly: null }
  const owner = `org:${org.id}` as const
  const before = await balanceOf(org.slug)
  const input = { owner, keyId: null, caps, ref: 'call', amount: 2_000_000 }
  const hold = await store.write((tx) => billing.reserve(tx, input))
  expect((await run(`credits balance ${org.slug}`)).stdout).toMatch(/^held¢ +2\.00$/m)
  expect(await balanceOf(org.slug)).toBe(before - 2)
  await store.write((tx) => billing.release(tx, hold!))
})

test('keeps the ledger in balance through all of this', async () => {
  const { exitCode, stdout } = await run('verify --json')
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout).map(({ ok }: { ok: boolean }) => ok)).not.toContain(false)
})
