import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { saveFor } from '../files/support'
import { readFrames } from '../support/frames'
import { startResearchSite } from '../support/research-site'
import { startUpstream } from '../support/upstream'
import { createWorld, type Person } from '../support/world'
import { pdfOf } from '../tools/pdf'

// Real work on threads, perhaps beside much else.
setDefaultTimeout(90_000)

const site = startResearchSite()
afterAll(() => site.stop())
const world = await createWorld({ config: { egressAllow: '127.0.0.1/32' } })
const { container, store } = world.app

async function researched(person: Person, body: Record<string, unknown>) {
  const { status, body: handle } = await person.send('POST', 'research', body)
  expect(status).toBe(202)
  await container.jobs.runDue()
  return (await person.send('GET', `jobs/${handle.job_id}`)).body
}
const NOTES = 'The harbour of Skell freezes over in February. Its ferry to Port Ellis runs four times a day in summer.'

describe('sources of the caller’s own', () => {
  test('are files that the prompt names, text and PDF alike', async () => {
    const ada = await world.person()
    const [notes, sheet] = await Promise.all([
      saveFor(world, ada, Buffer.from(NOTES), { mimeType: 'text/plain', filename: 'notes.txt', type: 'file' }),
      saveFor(world, ada, Buffer.from(pdfOf('The ferry to Port Ellis costs 12 euros in winter and in summer.')), {
        mimeType: 'application/pdf',
        filename: 'sheet.pdf',
        type: 'document',
      }),
    ])
    const prompt = `How often does the ferry to Port Ellis run, and what does it cost? ${notes.id} ${sheet.id}`
    const { result, result_data: data } = await researched(ada, { prompt })
    expect(result).toContain('four times a day in summer')
    expect(result).toContain('12 euros')
    expect(data.citations.map(({ url }: { url: string }) => url).sort()).toEqual(
      [`/api/v1/artifacts/${notes.id}`, `/api/v1/artifacts/${sheet.id}`].sort(),
    )
  })

  test('are their other files where there is no search server, and never someone else’s', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await saveFor(world, ada, Buffer.from(NOTES), { mimeType: 'text/plain', filename: 'notes.txt', type: 'file' })
    const { result } = await researched(ada, { prompt: 'When does the harbour of Skell freeze over?' })
    expect(result).toContain('freezes over in February')
    const job = await researched(eve, { prompt: 'When does the harbour of Skell freeze over?' })
    expect(job).toMatchObject({ status: 'failed', result: null })
  })

  test('are the knowledge files of their skills', async () => {
    const ada = await world.person()
    await ada.send('POST', 'skills', { slug: 'meeting-notes' })
    const { status, result_data: data } = await researched(ada, {
      prompt: 'What belongs into the minutes of a meeting?',
    })
    expect(status).toBe('completed')
    expect(data.citations[0]).toMatchObject({ title: expect.stringContaining('of skill meeting-notes'), url: null })
  })
})

describe('a research that fails', () => {
  test('says what to configure when there is nothing to read, and costs nothing', async () => {
    const ada = await world.person()
    const job = await researched(ada, { prompt: 'How tall is the lighthouse?' })
    expect(job).toMatchObject({ status: 'failed', usage: { cost_cents: 0 } })
    expect(job.error).toContain('SVC_SEARCH_DRIVER')
    expect((await container.billing.balance(store.read, `user:${ada.userId}`)).held).toBe(0)
  })

  test('names the addresses that could not be read, without calling private ones', async () => {
    const ada = await world.person()
    const prompt = `How tall is it? ${site.origin}/none http://10.0.0.1/secret http://169.254.169.254/latest`
    const { error } = await researched(ada, { prompt })
    const refused = (url: string) => `${url} cannot be called: it is not a public address`
    const problems = [
      `${site.origin}/none answered with status 404`,
      refused('http://10.0.0.1/secret'),
      refused('http://169.254.169.254/latest'),
    ]
    const text = 'No source could be read: '
    expect(error).toStartWith(text)
    expect(error.slice(text.length, -1).split('; ').sort()).toEqual(problems.sort())
  })

  test('says so when what was read speaks of something else', async () => {
    const ada = await world.person()
    const prompt = `What is the boiling point of tungsten? ${site.urls[24]} ${site.origin}/none`
    expect((await researched(ada, { prompt })).error).toMatch(
      /^The sources that could be read \(“.+”\) do not mention this, and .*: http\S+\/none answered with status 404\. Use/,
    )
  })
})

describe('a policy', () => {
  const ruleOf = (phase: string, verdict: string) => ({
    guardrail_id: 'blocked_terms',
    phase,
    verdict,
    config: { terms: ['Merrow'] },
  })
  async function bound(...rules: object[]): Promise<Person> {
    const ada = await world.person()
    expect((await ada.send('POST', 'guardrail-policies', { name: 'Mine', rules, is_default: true })).status).toBe(201)
    return ada
  }
  const prompt = `When was the lighthouse of Port Ellis built? ${site.urls[0]}`

  test('refuses a prompt before any work, and the refusal is recorded', async () => {
    const ada = await bound(ruleOf('input', 'block'))
    const { status, body } = await ada.send('POST', 'research', { prompt: `Who was Merrow? ${site.urls[0]}` })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'guardrail_blocked' })
    expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
    expect((await ada.send('GET', 'audit')).body[0]).toMatchObject({ action: 'research.failed' })
  })

  test('redacts a report, and what is quoted from it goes with it', async () => {
    const ada = await bound(ruleOf('output', 'redact'))
    const { result, result_data: data, id } = await researched(ada, { prompt })
    expect(result).toContain('built in 1871')
    expect(result).not.toContain('Merrow')
    expect(JSON.stringify({ ...data, report: '' })).not.toContain('Merrow')
    expect((await ada.send('GET', `jobs/${id}/verification`)).body.sound).toBe(true)
  })

  test('withholds a report whole', async () => {
    const { result, result_data: data } = await researched(await bound(ruleOf('output', 'block')), { prompt })
    expect(result).not.toContain('1871')
    expect(data).toMatchObject({ citations: [], quotations: [], summary: '' })
  })

  test('withholds one within a request, as a stream too', async () => {
    const ada = await bound(ruleOf('output', 'block'))
    const { text } = await ada.send('POST', 'completions', { prompt, mode: 'research', stream: true })
    const { event, data } = readFrames(text).at(-1)!
    expect(event).toBe('done')
    expect(data.guardrails).toMatchObject([{ guardrail_id: 'blocked_terms', verdict: 'block' }])
    expect(text).not.toContain('Merrow')
  })

  test('redacts one within a request, and what is quoted from it', async () => {
    const ada = await bound(ruleOf('output', 'redact'))
    const { body } = await ada.send('POST', 'completions', { prompt, mode: 'research' })
    expect(body.content).toContain('built in 1871')
    expect(body.tools_used[0].result.citations).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain('Merrow')
  })

  test('looks at what is read', async () => {
    const rule = { guardrail_id: 'prompt_injection', phase: 'tool_result', verdict: 'block', config: {} }
    const { status, error } = await researched(await bound(rule), {
      prompt: `Who lit the lighthouse of Port Ellis? ${site.urls[19]}`,
    })
    expect(status).toBe('failed')
    expect(error).toContain('was withheld by the guardrail')
  })
})

test('money and rates: hold the most that it may cost and charge what was used; without credit nothing starts', async () => {
  const upstream = await startUpstream({ text: () => 'The lighthouse was built in 1871. [Q1]' })
  afterAll(() => upstream.stop())
  const paid = await createWorld({
    config: { egressAllow: '127.0.0.1/32', engineBaseUrl: upstream.url, engineModel: 'scripted' },
  })
  const [ada, poor] = [await paid.person({ cents: 50 }), await paid.person({ cents: 1 })]
  const input = { prompt: `When was the lighthouse of Port Ellis built? ${site.urls[0]}`, max_sources: 10 }
  expect((await poor.send('POST', 'research', input)).body.error.code).toBe('insufficient_credits')
  expect((await poor.send('GET', 'jobs')).body.jobs).toEqual([])
  const { body } = await ada.send('POST', 'research', input)
  const balance = () => paid.app.container.billing.balance(paid.app.store.read, `user:${ada.userId}`)
  // 16,000 tokens in, 4,000 out and ten pages of svc-1-research.
  expect((await balance()).held).toBe(16 * 300_000 + 4 * 1_500_000 + 10 * 500_000)
  await paid.app.container.jobs.runDue()
  const { usage } = (await ada.send('GET', `jobs/${body.job_id}`)).body
  const after = await balance()
  expect(after.held).toBe(0)
  expect(50_000_000 - after.balance).toBe(Math.round(usage.cost_cents * 1_000_000))
  expect(usage.cost_cents).toBeGreaterThan(0.5)
  expect(usage.cost_cents).toBeLessThan(6)
  const { mode_limits: limits } = (await ada.send('GET', 'rate-limits')).body
  expect((await ada.send('GET', 'rate-limits')).body.usage.modes.research.remaining).toBe(limits.research - 1)
})

test('the tool deep_research gives an engine a report with citations, and is listed', async () => {
  const ada = await world.person()
  const { body } = await ada.send('GET', 'tools')
  const entry = body.tools.find(({ name }: { name: string }) => name === 'deep_research')
  expect(entry).toMatchObject({ category: 'search', available: true })
  const call = world.callAs(ada)
  const { tools } = container
  const toolset = tools.assemble({ inline: [], skills: [], system: true, approved: [], call })
  const question = `When was the lighthouse of Port Ellis built? ${site.urls[0]}`
  const request = { id: 'call_1', name: 'deep_research', arguments: JSON.stringify({ question }) }
  const context = { call, signal: new AbortController().signal, now: 0, conversationId: null }
  const { status, result, text } = await tools.run(toolset, request, context)
  expect(status).toBe('success')
  expect(text).toContain('1871')
  expect(result).toMatchObject({ citations: [{ index: 1, url: site.urls[0] }] })
  const none = { ...request, arguments: JSON.stringify({ question: 'How tall is it?' }) }
  expect((await tools.run(toolset, none, context)).text).toContain('SVC_SEARCH_DRIVER')
})
