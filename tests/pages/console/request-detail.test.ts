import { expect, test } from 'bun:test'
import { usageRecords } from '../../../src/usage/table'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { createConsole, cutIn, press, sees, write, wrongIn } from './support/console'

inChromium('one request of the console', async () => {
  const { open, person, world } = await createConsole({ config: { traceBodies: true } })
  await person.send('PATCH', 'settings', { keep_bodies: true })
  const { body: preference } = await person.send('POST', 'routing-preferences', {
    name: 'Orders',
    is_default: true,
    rules: [{ pattern: '\\border\\b', target_mode: 'think', confidence: 0.95, description: 'Asks about an order' }],
  })
  await person.send('POST', 'guardrail-policies', {
    name: 'Short',
    is_default: true,
    rules: [{ guardrail_id: 'max_length', phase: 'output', verdict: 'flag', config: { max_chars: 10 } }],
  })
  const answer = await person.send('POST', 'completions', { prompt: 'Where is my order?', mode: 'auto' })
  const id: string = answer.body.request_id

  test('says which rule chose the mode, what the guardrails found, and what it cost', async () => {
    const { page, problems } = await open(`/me/requests/${id}`)
    for (const text of ['a rule of a routing preference', 'Asks about an order', '95 %', preference.id, 'max_length'])
      await sees(page, text)
    await sees(page, 'Charged')
    expect(await wrongIn(page, 'request-detail')).toEqual([])
    expect(problems).toEqual([])
  })

  test('its size is a fact of it and a column, where it is kept', async () => {
    const { bytes_in } = (await person.send('GET', `requests/${id}`)).body.request
    const { page, problems } = await open(`/me/requests/${id}?cols=time,status,size`)
    await sees(page, `${bytes_in} B in`)
    await sees(page, `${bytes_in} B / `)
    expect(await cutIn(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test('a call that is older than traces are read shows what its row says', async () => {
    const at = Date.now() - 93 * 86_400_000
    const call = {
      owner: `user:${person.userId}`,
      user_id: person.userId,
      endpoint: '/completions',
      status: 200,
    } as const
    const figures = { prompt_tokens: 7, completion_tokens: 9, cost_micro: 0, latency_ms: 5 }
    const row = { ...call, ...figures, at, request_id: 'req_old', cached: false, fallback_used: false }
    await world.app.store.write((tx) => tx.insert(tx.of(usageRecords)).values(row as never))
    const { page, problems } = await open(`/me/requests?from=${new Date(at - 1).toISOString()}`)
    await page.waitForSelector('a[href*="req_old"]')
    await page.click('a[href*="req_old"]')
    await sees(page, 'The trace was kept until')
    await sees(page, '7 in, 9 out')
    expect(problems).toEqual([])
  })

  test('a mode that was wrong is corrected where it is seen', async () => {
    const { page, problems } = await open(`/me/requests/${id}`)
    await press(page, 'Correct the mode…')
    await page.waitForSelector('.dialog select')
    await page.select('.dialog select', 'code')
    await write(page, 'Note', 'It asks for a program.')
    await press(page, 'Correct the mode')
    const corrections = async () => (await person.send('GET', 'routing-corrections')).body.routing_corrections
    const [made] = await eventually(corrections, (all) => all.length === 1)
    expect(made).toMatchObject({ prompt: 'Where is my order?', resolved_mode: 'think', expected_mode: 'code' })
    expect(problems).toEqual([])
  })

  test('it is sent again to another engine, and both answers stand side by side', async () => {
    const { page, problems } = await open(`/me/requests/${id}`)
    await sees(page, 'Send it again to')
    await eventually(() => page.$$eval('.drawer-body select option', (options) => options.length > 1))
    await page.select('.drawer-body select', 'svc-1-flash')
    await press(page, 'Replay…')
    await sees(page, 'It costs at most')
    await press(page, 'Replay')
    await page.waitForSelector('.side-by-side')
    await sees(page, 'Now')
    expect(await page.$$eval('.side-by-side pre', (all) => all.length)).toBe(2)
    expect(await wrongIn(page, 'request-replay')).toEqual([])
    expect(problems).toEqual([])
  })

  test('a kept request shows its tool calls: what each was given, gave back, and when it ran', async () => {
    const input_schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    const weather = { name: 'get_weather', description: 'Weather of a city', input_schema }
    const weatherCall = { prompt: "What's the weather in Paris?", mode: 'fast', tools: [weather] }
    const called = await person.send('POST', 'completions', weatherCall)
    const { page, problems } = await open(`/me/requests/${called.body.request_id}`)
    const texts = (labels: readonly string[]) =>
      Promise.all(labels.map((label) => page.$eval(`pre[aria-label="${label}"]`, (box) => box.textContent)))
    await sees(page, 'acknowledged')
    expect(await texts(['arguments of get_weather', 'result of get_weather'])).toEqual([
      '{"city":"Paris"}',
      '{"acknowledged":true}',
    ])
    expect(await page.$$eval('.waterfall li', (all) => all.map((step) => step.textContent))).toContainEqual(
      expect.stringContaining('get_weather'),
    )
    expect(await wrongIn(page, 'request-tools')).toEqual([])
    expect(problems).toEqual([])
  })

  test.each([
    ['chat/completions', { model: 'svc-1-flash', messages: [{ role: 'user', content: 'Say "yes"' }] }],
    ['responses', { model: 'svc-1-flash', input: 'Say "yes"' }],
    ['messages', { model: 'svc-1-flash', max_tokens: 9, messages: [{ role: 'user', content: 'Say "yes"' }] }],
    ['embeddings', { model: 'svc-1-embed-local', input: 'yes' }],
  ])('without a kept body its command is one that /%s takes', async (path, body) => {
    await person.send('PATCH', 'settings', { keep_bodies: false })
    const { status, headers } = await person.send('POST', path, body)
    expect(status).toBe(200)
    const { page } = await open(`/me/requests/${headers.get('x-request-id')}`)
    await sees(page, 'The curl has a placeholder')
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void Object.assign(window, { copied: text })
    })
    await press(page, 'Copy as curl')
    const copied = await eventually(() => page.evaluate(() => (window as { copied?: string }).copied ?? ''), Boolean)
    expect(copied).toContain(`/api/v1/${path} `)
    const sent = JSON.parse(/-d '(.+)'$/s.exec(copied)![1]!)
    expect((await person.send('POST', path, sent)).status).toBe(200)
  })
})
