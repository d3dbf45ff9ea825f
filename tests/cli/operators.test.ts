import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { createWorld, type Person } from '../support/world'

const world = await createWorld({ config: { opsListen: '127.0.0.1:0' } })
const run = cliOver(world)
const { json } = run
const SECRET = /svc_op_[0-9A-Za-z]{48}/

const ask = async (person: Person, requested_tier = 'pro') =>
  (
    await person.send('POST', 'rate-limits/request-increase', {
      requested_tier,
      use_case: 'batch',
      expected_volume: '9',
    })
  ).body.id as string

describe('operators', () => {
  test('are added with a secret that is shown once, listed without it, rotated and revoked', async () => {
    const { exitCode, stdout, stderr } = await run('operators add priya --role admin')
    expect({ exitCode, stdout: stdout.match(new RegExp(SECRET, 'g'))?.length }).toEqual({ exitCode: 0, stdout: 1 })
    expect(stderr).toBe('Shown once. The server stores only its hash.\n')
    const [key] = SECRET.exec(stdout)!
    expect(await json('operators list')).toMatchObject([{ name: 'priya', role: 'admin', status: 'active' }])
    const rotated = await json('operators rotate priya -y')
    expect(rotated.key).toMatch(SECRET)
    expect((await run('status', { key })).exitCode).toBe(4)
    expect((await run('status', { key: rotated.key })).exitCode).toBe(0)
    expect((await run('operators revoke priya -y')).exitCode).toBe(2)
    expect((await json('operators revoke priya -y --reason left')).status).toBe('revoked')
    expect((await run('status', { key: rotated.key })).exitCode).toBe(4)
    expect(await json('operators list')).toEqual([])
    expect(await json('operators list --revoked')).toHaveLength(1)
  })

  test.each([
    ['without a role', ['operators', 'add', 'x'], 2],
    ['with a role that is none', ['operators', 'add', 'x', '--role', 'root'], 2],
    ['over before they begin', ['operators', 'add', 'x', '--role', 'viewer', '--expires', '2020-01-01'], 2],
    ['that are not there', ['operators', 'revoke', 'nobody', '-y', '--reason', 'x'], 3],
    ['without a yes', ['operators', 'rotate', 'nobody'], 2],
  ])('are refused %s', async (_why, line, exitCode) => {
    expect(await run(line)).toMatchObject({ exitCode, stdout: '' })
  })
})

describe('svc-admin from another machine', () => {
  test('does what the role of its key may do, and says no with 4', async () => {
    const viewer = (await json('operators add looker --role viewer')).key
    const billing = (await json('operators add cashier --role billing')).key
    const ada = await world.person()
    expect((await json(`keys get ${ada.keyId}`, { key: viewer })).id).toBe(ada.keyId)
    const grant = ['credits', 'grant', ada.userId, '5.00', '--reason', 'pilot']
    const refused = await run(grant, { key: viewer })
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('The role viewer cannot') })
    expect((await json(grant, { key: billing })).amount_cents).toBe(500)
    expect((await run('operators list', { key: billing })).exitCode).toBe(4)
  })

  test('sees the keys of everyone with an operator key, its own with an API key', async () => {
    const viewer = (await json('operators add all-seeing --role viewer')).key
    const eve = await world.person()
    expect((await json('keys list --all', { key: viewer })).length).toBeGreaterThan(1)
    expect(await json('keys list', { key: eve.key })).toHaveLength(1)
  })
})

describe('limits', () => {
  test('show any key to an operator, and an API key itself', async () => {
    const ada = await world.person({ tier: 'pro' })
    await ada.send('GET', 'models')
    const left = (shown: { tier: string; usage: { requests: { remaining: number } } }) => [
      shown.tier,
      shown.usage.requests.remaining,
    ]
    expect(left(await json(`limits show ${ada.keyId}`))).toEqual(['pro', 999])
    expect(left(await json('limits show', { key: ada.key }))).toEqual(['pro', 998])
    expect((await run('limits show')).exitCode).toBe(2)
    expect((await run('limits show nobody')).exitCode).toBe(3)
  })

  test('are listed while they wait, approved as asked or differently, and rejected', async () => {
    const people = await Promise.all(['a', 'b', 'c'].map(() => world.person({ tier: 'free' })))
    const [question, less, never] = await Promise.all(people.map((person) => ask(person)))
    const waiting = (await json('limits list')).map(({ id }: { id: string }) => id)
    expect(waiting).toEqual(expect.arrayContaining([question, less, never]))
    const why = ['-y', '--reason', 'seen']
    expect(await run(['limits', 'approve', question!, '-y'])).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await json(['limits', 'approve', question!, ...why])).toMatchObject({ granted_tier: 'pro', reason: 'seen' })
    expect(await json(['limits', 'approve', less!, '--tier', 'starter', ...why])).toMatchObject({
      granted_tier: 'starter',
    })
    expect(await json(['limits', 'reject', never!, ...why])).toMatchObject({ status: 'rejected' })
    expect((await run(['limits', 'reject', never!, ...why])).exitCode).toBe(5)
    expect((await run('limits get rli_000000000000000000000000')).exitCode).toBe(3)
    expect((await json(['limits', 'get', question!.slice(0, 16)])).id).toBe(question)
    const tiers = await Promise.all(people.map(async (one) => (await one.send('GET', 'rate-limits')).body.tier))
    expect(tiers).toEqual(['pro', 'starter', 'free'])
    expect(await json('limits list')).toEqual([])
    expect(await json('limits list --all-states')).toHaveLength(3)
  })
})

describe('tiers', () => {
  test('are listed as they are in force', async () => {
    expect(await json('tiers list')).toMatchObject([
      { id: 'free', rpm: 60, tpm: 100_000, video: 10 },
      { id: 'starter', rpm: 300 },
      { id: 'pro', rpm: 1_000 },
      { id: 'enterprise', rpm: 5_000 },
    ])
  })

  test('are set at once, up with news and down without, and need a reason', async () => {
    const ada = await world.person({ tier: 'free' })
    const news: string[] = []
    world.app.container.events.afterCommit('*', ({ type }) => news.push(type))
    expect((await run(`tiers set ${ada.keyId} pro`)).exitCode).toBe(2)
    expect((await run(`tiers set ${ada.keyId} gold --reason x`)).exitCode).toBe(2)
    const { stdout, stderr } = await run(`tiers set ${ada.keyId} pro --reason signed --json`)
    expect(JSON.parse(stdout).tier).toBe('pro')
    expect(stderr).toStartWith(`undo: svc-admin tiers set ${ada.keyId.slice(0, 8)} free`)
    expect((await ada.send('GET', 'models')).headers.get('x-ratelimit-limit-requests')).toBe('1000')
    await run(`tiers set ${ada.keyId} free --reason over`)
    expect(news).toEqual(['rate_limit.upgraded'])
    const { body } = await ada.send('GET', `audit?entity_id=${ada.keyId}`)
    expect(body.map(({ action }: { action: string }) => action)).toEqual([
      'key.updated',
      'rate_limit.upgraded',
      'key.created',
    ])
  })
})
