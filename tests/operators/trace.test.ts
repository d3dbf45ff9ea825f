import { expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { eventually } from '../support/eventually'
import { startUpstream, UPSTREAM_SECRET } from '../support/upstream'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const [main, backup] = [await startUpstream(), await startUpstream({ text: 'from the second' })]
const world = await createWorld({
  config: {
    engines: {
      upstreams: { main: { kind: 'compat', baseUrl: main.url }, backup: { kind: 'compat', baseUrl: backup.url } },
      models: { '*': ['main:a', 'backup:b'] },
    },
  },
})
const run = cliOver(world)
const ops = operatorSender(world)
const ada = await world.person({ ofOrg: true })
type Step = { kind: string; name: string; ms: number; facts: Record<string, unknown> }
const traceOf = async (id: string) => (await ops('GET', `requests/${id}`)).body
const idOf = (reply: { headers: Headers }) => reply.headers.get('x-request-id')!

test('a trace is complete: stages, attempts with their true errors, money and audit record', async () => {
  const fine = await ada.send('POST', 'completions', { prompt: 'canary words', mode: 'fast' })
  expect(fine.status).toBe(200)
  // Its line is written when the answer is out, which is after its caller has it.
  await eventually(async () => (await traceOf(idOf(fine))).request?.path === '/api/v1/completions')
  const { owner, steps, ledger, audit } = (await traceOf(idOf(fine))) as { owner: string; steps: Step[] } & Record<
    'ledger' | 'audit',
    Record<string, unknown>[]
  >
  expect(owner).toBe(`org:${ada.orgId}`)
  const named = steps.map(({ kind, name }) => `${kind} ${name}`)
  for (const one of ['stage open', 'stage decide', 'stage admit', 'engine main:a', 'stage think', 'stage finish'])
    expect(named).toContain(one)
  const settled = steps.find(({ kind }) => kind === 'settled')!.facts
  expect(settled).toMatchObject({ status: 200, mode: 'fast', cached: false, cost_cents: fine.body.usage.cost_cents })
  expect(ledger.length).toBeGreaterThan(0)
  expect(audit).toMatchObject([{ action: 'completion.created' }])
  const lines = [...(await run(['trace', idOf(fine)])).stdout.matchAll(/^ +\+(\d+) ms {2}(\w+) +(\S+) /gm)]
  const order = lines.map(([, , kind, name]) => `${kind} ${name}`).filter((one) => one !== 'stage think')
  const stages = ['stage open', 'stage decide', 'stage admit', 'engine main:a', 'stage finish', 'settled /completions']
  expect(order).toEqual(stages)
  const moments = lines.map(([, after]) => Number(after))
  expect(moments).toEqual(moments.toSorted((a, b) => a - b))
})

test('an engine that fails is named with the words it used, and what it fell back to', async () => {
  const reply = await ada.send('POST', 'completions', { prompt: '[[500]] canary prompt', mode: 'fast' })
  const { steps } = (await traceOf(idOf(reply))) as { steps: Step[] }
  const attempts = steps.filter(({ kind }) => kind === 'engine')
  expect(attempts.map(({ name }) => name)).toEqual(expect.arrayContaining(['main:a', 'backup:b']))
  expect(attempts.every(({ facts }) => facts.outcome !== 'answered' && typeof facts.error === 'string')).toBe(true)
  expect(JSON.stringify(steps)).not.toContain('canary')
  const { stdout } = await run(['trace', idOf(reply)])
  expect(stdout).toMatch(/engine +main:a .*error=/)
  expect(stdout).toMatch(/stage +think .*failed=engine_unavailable/)
  expect(stdout + JSON.stringify(steps)).not.toContain('sk-upstream-secret')
  expect(UPSTREAM_SECRET).toContain('sk-upstream-secret')
})

test('of a request that was refused early, the user of its line is named', async () => {
  const reply = await ada.send('POST', 'completions', {})
  expect(reply.status).toBe(400)
  const line = async () => (await run(['trace', idOf(reply)], { clock: world.clock })).stdout
  await eventually(async () => (await line()).includes('400'))
  expect(await line()).toMatch(new RegExp(`^user +${ada.userId}$`, 'm'))
})

test('what was stored of a request is found by its owner alone; a request of nobody is not', async () => {
  const id = idOf(await ada.send('POST', 'completions', { prompt: 'canary later', mode: 'fast' }))
  const { stdout } = await run(['trace', id, ada.orgId!, '--json'], { clock: world.clock })
  expect(JSON.parse(stdout)).toMatchObject({ id, owner: `org:${ada.orgId}`, audit: [{ action: 'completion.created' }] })
  expect((await run(['trace', 'req_nobody'])).exitCode).toBe(3)
  const bob = await world.person({ ofOrg: true })
  const asBob = await ops('GET', `requests/${id}?owner=${bob.orgId}`)
  expect({ ledger: asBob.body.ledger, audit: asBob.body.audit }).toEqual({ ledger: [], audit: [] })
})

test('logs show and tail tell of answered requests, by what is wanted of them', async () => {
  await ada.send('GET', 'models')
  await ada.send('GET', 'nothing-here')
  const show = async () =>
    JSON.parse((await run(['logs', 'show', '--status', '4xx', '--path', 'nothing', '--json'])).stdout)
  await eventually(async () => (await show()).length === 1)
  expect(await show()).toMatchObject([{ status: 404, path: '/api/v1/nothing-here' }])
  expect((await run(['logs', 'show', '--method', 'get', '--status', '5xx'])).stderr).toContain('No matching request')
})

test('the metrics report tokens, cost, times, breakers, jobs and deliveries by engine and mode', async () => {
  await ada.send('POST', 'completions', { prompt: 'canary metrics', mode: 'fast' })
  const { text } = await ops('GET', '/metrics')
  const value = (line: RegExp) => Number(line.exec(text)?.[1])
  expect(
    value(/^svc_calls_total\{engine="svc-1-flash",mode="fast",outcome="answered",cached="no"\} (\d+)$/m),
  ).toBeGreaterThan(0)
  expect(value(/^svc_tokens_total\{engine="svc-1-flash",mode="fast",kind="completion"\} (\d+)$/m)).toBeGreaterThan(0)
  expect(value(/^svc_cost_cents_total\{engine="svc-1-flash",mode="fast"\} ([\d.e-]+)$/m)).toBeGreaterThan(0)
  expect(value(/^svc_engine_breaker_open\{engine="svc-1-flash",target="main:a"\} (\d)$/m)).toBeOneOf([0, 1])
  for (const name of ['svc_call_seconds_count', 'svc_jobs{state="queued"}', 'svc_deliveries_hour{outcome="failed"}'])
    expect(text).toContain(name)
})

// Last, since what follows would meet open breakers.
test('a target whose breaker is open is named as passed over, and counts as no call', async () => {
  for (let round = 0; round < 4; round++)
    await ada.send('POST', 'completions', { prompt: `[[500]] ${round}`, mode: 'fast' })
  const reply = await ada.send('POST', 'completions', { prompt: 'canary after', mode: 'fast' })
  const { steps } = (await traceOf(idOf(reply))) as { steps: Step[] }
  const passed = steps.filter(({ facts }) => facts.outcome === 'passed over')
  expect(passed.find(({ name }) => name === 'main:a')).toMatchObject({
    kind: 'engine',
    ms: 0,
    facts: { error: expect.stringMatching(/^it kept failing; it gets no calls for another \d+ s$/) },
  })
  expect((await run(['trace', idOf(reply)])).stdout).toMatch(/engine +main:a .*outcome="?passed over/)
  expect((await ops('GET', '/metrics')).text).not.toContain('outcome="passed over"')
})
