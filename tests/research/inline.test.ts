import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { countTokens } from '../../src/engines'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { joinTokens, readFrames } from '../support/frames'
import { PLANTED, startResearchSite } from '../support/research-site'
import { startUpstream } from '../support/upstream'
import { createWorld, type Person } from '../support/world'

// Real work on threads, perhaps beside much else.
setDefaultTimeout(90_000)

const site = startResearchSite()
afterAll(() => site.stop())
const config = { egressAllow: '127.0.0.1/32', searchDriver: 'searxng' as const, searchBaseUrl: site.origin }
const QUESTION = 'When was the lighthouse of Port Ellis built, and how tall is it?'

describe('research on /completions', () => {
  test('runs inline by the same code, and says where it belongs (docs/api.md 2.4)', async () => {
    const ada = await (await createWorld({ config })).person()
    const { status, body } = await ada.send('POST', 'completions', { prompt: QUESTION, mode: 'research' })
    expect(status).toBe(200)
    expect(body.content).toContain('1871')
    expect(body.content).toContain('## Sources')
    expect(body.warnings[0]).toContain('POST /research')
    expect(body.tools_used[0]).toMatchObject({ name: 'deep_research', status: 'success' })
    expect(body.tools_used[0].result.citations.length).toBeGreaterThan(1)
    expect(body.usage.cost_cents).toBe(0)
    expect(body).not.toHaveProperty('job')
  })

  test('in auto reads at most five sources', async () => {
    const ada = await (await createWorld({ config })).person()
    const before = site.read.length
    const { body } = await ada.send('POST', 'completions', { prompt: `Research ${QUESTION}` })
    expect(body.resolved_mode).toBe('research')
    expect(body.content).toContain('Extractive report')
    expect(site.read.length - before).toBe(5)
  })

  test('as a stream shows the report before its end', async () => {
    const ada = await (await createWorld({ config })).person()
    const { text } = await ada.send('POST', 'completions', { prompt: QUESTION, mode: 'research', stream: true })
    const frames = readFrames(text)
    const done = frames.at(-1)!
    expect(done.event).toBe('done')
    expect(joinTokens(frames)).toBe(done.data.content)
    expect(done.data.content).toContain('1871')
  })

  test('without a source is answered by the engine, and a warning says what to configure', async () => {
    const ada = await (await createWorld()).person()
    const { body } = await ada.send('POST', 'completions', { prompt: 'What of the tides?', mode: 'research' })
    expect(body.warnings.join(' ')).toContain('SVC_SEARCH_DRIVER')
    expect(body.content).not.toContain('## Sources')
  })
})

test('auto that is still reading after a minute hands over to a job that goes on with what was read', async () => {
  const clock = fakeClock()
  const world = await createWorld({ config, clock })
  const ada = await world.person()
  const release = site.hold(2)
  const before = site.read.length
  const answered = ada.send('POST', 'completions', { prompt: `Research ${QUESTION}` })
  // The fifth is begun when one of the first is kept.
  await eventually(() => site.read.length - before === 5)
  clock.advance(60_000)
  const { status, body } = await answered
  expect(status).toBe(200)
  expect(body.job).toMatchObject({ status: 'queued', poll_url: `/api/v1/jobs/${body.job.job_id}` })
  expect(body.content).toContain(body.job.job_id)
  release()
  const reads = site.read.length
  await world.app.container.jobs.runDue()
  const { body: job } = await ada.send('GET', `jobs/${body.job.job_id}`)
  expect(job).toMatchObject({ status: 'completed', type: 'research', result_data: { depth: 'basic' } })
  expect(site.read.length - reads).toBeLessThan(5)
  const actions = (await ada.send('GET', 'audit')).body.map(({ action }: { action: string }) => action)
  expect(actions).toEqual(expect.arrayContaining(['completion.created', 'research.created', 'job.completed']))
})

describe('an engine that writes', () => {
  /** It says what it was told, something else, and what a page commands. */
  const reportBy = (q: (words: string) => string) => `## Summary
The lighthouse of Port Ellis was built in 1871 by the engineer Ada Merrow. [${q('built in 1871')}]
The tower of the Port Ellis lighthouse is 55 metres tall. [${q('42 metres')}]
It was designed by Isambard Brunel himself.
## Height
- The tower is 42 metres tall and has 208 steps. [${q('42 metres')}]
- ![x](https://evil.example/?q=1) The lamp of the Port Ellis lighthouse can be seen from 31 kilometres. [${q('31 kilometres')}]`

  async function withEngine(written: (messages: string) => string) {
    const upstream = await startUpstream({ text: ({ messages }) => written(JSON.stringify(messages)) })
    afterAll(() => upstream.stop())
    const world = await createWorld({ config: { ...config, engineBaseUrl: upstream.url, engineModel: 'scripted' } })
    const ada = await world.person()
    const { body: handle } = await ada.send('POST', 'research', { prompt: QUESTION, max_sources: 20 })
    const reserved = await tokensOf(ada)
    await world.app.container.jobs.runDue()
    const { body: job } = await ada.send('GET', `jobs/${handle.job_id}`)
    return { upstream, world, ada, job, reserved, data: job.result_data }
  }
  /** Tokens that count towards the rate of the caller. */
  const tokensOf = async (ada: Person): Promise<number> => {
    const { limit, remaining } = (await ada.send('GET', 'rate-limits')).body.usage.tokens
    return limit - remaining
  }
  const markIn = (messages: string) => (words: string) =>
    new RegExp(`(Q\\d+): [^\\\\]*${words}`).exec(messages)?.[1] ?? 'Q999'

  test('keeps what its quotations bear out, drops the rest, and is charged', async () => {
    const { job, data, ada, upstream, reserved } = await withEngine((messages) =>
      messages.includes('You plan research') ? 'no plan' : reportBy(markIn(messages)),
    )
    expect(job.status).toBe('completed')
    expect(data.extractive).toBe(false)
    expect(job.result).toContain('built in 1871 by the engineer Ada Merrow. [1]')
    expect(job.result).toContain('42 metres tall and has 208 steps.')
    for (const gone of ['55 metres', 'Brunel', 'evil.example', '![']) expect(job.result).not.toContain(gone)
    const why = data.verification.dropped.map((one: { why: string }) => one.why)
    expect(why).toEqual(['the number 55 is not in the cited passage', 'it names no source'])
    expect(job.usage.cost_cents).toBeGreaterThan(0)
    expect((await ada.send('GET', 'usage')).body.totals.cost_cents).toBe(job.usage.cost_cents)
    expect((await ada.send('GET', `jobs/${job.id}/verification`)).body).toMatchObject({ sound: true })
    const read = upstream.calls.map(({ body }) => JSON.stringify(body)).join('\n')
    for (const planted of PLANTED) expect(read).not.toContain(planted)
    expect(upstream.calls.every(({ body }) => !('tools' in body))).toBe(true)
    // Reserved as it is accepted, and counted truly as it ends (docs/api.md 1.6).
    expect(reserved).toBe(countTokens(QUESTION) + 1_024)
    expect(await tokensOf(ada)).toBe((await ada.send('GET', 'usage')).body.totals.total_tokens)
  })

  test('whose words hold nowhere leaves a report of quotations', async () => {
    const { job, data } = await withEngine(() => 'The lighthouse was bought by Admiral Zog in 1950. [Q1]')
    expect(job.result).not.toContain('Zog')
    expect(data.extractive).toBe(true)
    expect(data.warnings.join(' ')).toContain('No sentence of the language model could be verified')
  })
})
