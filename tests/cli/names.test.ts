// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ ofOrg: true, cents: 100 })
const [org, user] = [ada.orgId!, ada.userId]
const { json } = run

describe('an id may be cut short', () => {
  test.each([
    ['orgs get', ['orgs', 'get', org.slice(0, 8)], org],
    ['users get', ['users', 'get', user.slice(0, 8)], user],
    ['credits balance of an organization', ['credits', 'balance', org.slice(0, 6)], `org:${org}`],
    ['credits balance of an account', ['credits', 'balance', user.slice(0, 13)], `user:${user}`],
  ])('%s', async (_command, line, id) => {
    expect((await json(line)).id).toBe(id)
  })

  test('members list and withdraw, users sessions list and operators revoke', async () => {
    expect(await json(['members', 'list', '--org', org.slice(0, 8)])).toHaveLength(1)
    expect(await json(['users', 'sessions', 'list', user.slice(0, 8)])).toEqual([])
    const { id } = await json('operators add grafana --role viewer')
    const gone = await json(['operators', 'revoke', id.slice(0, 8), '--reason', 'x', '-y'])
    expect(gone).toMatchObject({ id, status: 'revoked' })
    await json(['members', 'add', 'eve@example.com', '--org', org, '--invite'])
    const [invitation] = await json(['members', 'invitations', '--org', org])
    const withdrawn = await json(['members', 'withdraw', invitation.id.slice(0, 8), '--org', org, '-y'])
    expect(withdrawn).toEqual({ id: invitation.id, deleted: true })
  })

  test('a request for higher limits, an invitation, a skill and an audit event', async () => {
    const person = await world.person({ cents: 1_000, tier: 'free' })
    const input = { requested_tier: 'starter', use_case: 'x', expected_volume: 'y' }
    const { id } = (await person.send('POST', 'rate-limits/request-increase', input)).body
    expect((await json(['limits', 'get', id.slice(0, 12)])).id).toBe(id)
    const approved = await json(['limits', 'approve', id.slice(0, 12), '--reason', 'x', '-y'])
    expect(approved).toMatchObject({ id, status: 'approved' })

    await json(['members', 'add', 'new@example.com', '--org', org, '--invite'])
    const [invited] = await json(['members', 'invitations', '--org', org])
    const gone = await json(['members', 'withdraw', invited.id.slice(0, 8), '--org', org, '-y'])
    expect(gone).toEqual({ id: invited.id, deleted: true })

    const [skill] = await json('skills list')
    for (const options of [{}, { key: ada.key }])
      expect((await json(['skills', 'get', skill.id.slice(0, 8)], options)).id).toBe(skill.id)

    const [event] = await json(['audit', 'list', org])
    expect((await json(['audit', 'get', event.id.slice(0, 8), org])).id).toBe(event.id)
    expect(await json(['audit', 'list', org, '--key', ada.keyId.slice(0, 8)])).toEqual(
      await json(['audit', 'list', org, '--key', ada.keyId]),
    )
  })

  test('a rule set bound to a key', async () => {
    const options = { key: ada.key }
    const rules = [{ pattern: 'zebra', target_mode: 'roast' }]
    const { id } = (await ada.send('POST', 'routing-preferences', { name: 'strict', rules })).body
    const bound = await run(['keys', 'bind', ada.keyId, '--routing', id.slice(0, 8), '--json'], options)
    expect(JSON.parse(bound.stdout).routing_preference_id).toBe(id)
  })

  test.each([
    ['that is too short', ['orgs', 'get', org.slice(0, 5)], 3],
    ['that nothing begins with', ['orgs', 'get', 'ffffffff-ffff'], 3],
    ['with a wildcard in it', ['orgs', 'get', `${org.slice(0, 6)}%`], 3],
  ])('not %s', async (_what, line, exitCode) => {
    expect((await run(line)).exitCode).toBe(exitCode)
  })

  test('and a word that several answer to lists them and is refused as wrong usage', async () => {
    for (const slug of ['twin-one', 'twin-two']) await json(['orgs', 'create', 'Twin', '--owner', user, '--slug', slug])
    const { exitCode, stderr, stdout } = await run('orgs get Twin')
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/"Twin" matches 2 organizations: twin-(one|two), twin-(one|two)/)
  })
})

describe('commands under the names of the documentation', () => {
  test.each([
    '--org ID policies guardrails list',
    'policies --org ID guardrails list',
    '--timeout 30s -o json policies routing list',
    '--org ID policies routing corrections list',
    'policies routing corrections --org ID list',
  ])('flags may stand before and between them: %s', async (line) => {
    expect((await run(line.replace('ID', user).split(' '))).exitCode).toBe(0)
  })

  test.each(['help policies guardrails', 'policies guardrails --help', '--profile policies guardrails --help'])(
    'help knows them: %s',
    async (line) => {
      expect((await run(line.split(' '))).stdout).toContain('svc-admin guardrails VERB')
    },
  )

  test('help of a verb under its longer name is that of the verb', async () => {
    const { stdout } = await run('help policies routing corrections list')
    expect(stdout).toContain('svc-admin routing corrections')
  })

  test.each([
    ['workflows runs list', 'workflows runs'],
    ['workflows runs cancel', 'workflows cancel'],
    ['workflows runs resume', 'workflows approve'],
    ['engines prices set', 'engines set-prices'],
    ['tiers requests approve', 'limits approve'],
  ])('%s is %s', async (long, short) => {
    expect((await run([...long.split(' '), '--help'])).stdout).toContain(`svc-admin ${short} `)
  })

  test('credits caps set takes a key as well', async () => {
    const set = await json(['credits', 'caps', 'set', ada.keyId.slice(0, 8), '--daily', '5.00', '--monthly', 'none'])
    expect(set).toMatchObject({ scope: 'key', id: ada.keyId, daily_cap_cents: 500, monthly_cap_cents: null })
    expect((await run('keys list')).stdout).toMatch(/SPEND\/CAP¢.*\n(.*\n)*.* 0\.00\/500\.00 day/)
    expect((await run('credits caps set nobody --daily 5.00')).exitCode).toBe(3)
  })

  test('keys rotate --grace 0 stops the old secret at once', async () => {
    const { key, previous_key_expires_at } = await json(`keys rotate ${ada.keyId} --grace 0 -y`)
    expect(Date.parse(previous_key_expires_at)).toBeLessThanOrEqual(Date.now())
    expect((await ada.send('GET', 'models')).status).toBe(401)
    expect((await ada.send('GET', 'models', undefined, { authorization: `Bearer ${key}` })).status).toBe(200)
  })

  test('keys bind knows a key by the beginning of its id, its prefix or its name', async () => {
    const cy = await world.person()
    const { id, name, prefix } = (await cy.send('POST', 'keys', { name: 'to be bound' })).body
    for (const word of [id.slice(0, 8), name, prefix]) {
      const { stdout } = await run(['keys', 'bind', word, '--routing', 'none', '--json'], { key: cy.key })
      expect(JSON.parse(stdout)).toMatchObject({ id, routing_preference_id: null })
    }
  })

  test('limits show tells what is used and left of every window', async () => {
    const bo = await world.person({ cents: 1_000, tier: 'free' })
    await bo.send('POST', 'completions', { prompt: 'hi', mode: 'fast' })
    const { stdout } = await run(`limits show ${bo.keyId}`)
    expect(stdout).toMatch(/^requests +1 of 60 used, 59 left, resets in \d+s$/m)
    expect(stdout).toMatch(/^text +1 of 60 used, 59 left/m)
    expect(stdout).toMatch(/^research +0 of 15 used, 15 left, resets in 0s$/m)
  })

  test('tiers requests shows peak use beside what is asked, and its note is what the asker reads', async () => {
    const eve = await world.person({ cents: 1_000, tier: 'free' })
    await eve.send('POST', 'completions', { prompt: 'one', mode: 'fast' })
    await eve.send('POST', 'completions', { prompt: 'two', mode: 'fast' })
    const input = { requested_tier: 'starter', use_case: 'x', expected_volume: 'y' }
    const { id } = (await eve.send('POST', 'rate-limits/request-increase', input)).body
    const [request] = await json('tiers requests list')
    expect(request).toMatchObject({
      id,
      peak: { requests: 2 },
      current_limits: { requests: 60, tokens: 100_000 },
      requested_limits: { requests: 300, tokens: 500_000 },
    })
    expect(request.peak.tokens).toBeGreaterThan(0)
    expect((await run('tiers requests list')).stdout).toMatch(/PEAK\/MIN +NOW\/MIN +ASKS\/MIN/)
    const line = ['tiers', 'requests', 'deny', id, '--reason', 'risk score 7', '--note', 'Come back in May.', '-y']
    expect(await json(line)).toMatchObject({ status: 'rejected', reason: 'Come back in May.' })
  })

  test('help of a noun lists them, and a bare noun prints it', async () => {
    for (const line of [
      ['tiers', '--help'],
      ['tiers', 'requests'],
      ['tiers', 'requests', '--help'],
    ]) {
      expect(await run(line)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('requests approve') })
    }
    expect((await run('credits --help')).stdout).toContain('caps set')
  })
})
