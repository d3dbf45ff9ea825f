import { expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { inChromium } from '../support/chromium'
import { choose, createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('rules of the console', async () => {
  const { open, person } = await createConsole({ config: { traceBodies: true } })
  await person.send('PATCH', 'settings', { keep_bodies: true })
  const preference = await person.send('POST', 'routing-preferences', {
    name: 'Orders',
    is_default: true,
    rules: [{ pattern: '\\border\\b', target_mode: 'think', confidence: 0.95, description: 'Asks about an order' }],
  })
  const policy = await person.send('POST', 'guardrail-policies', {
    name: 'Short',
    is_default: true,
    rules: [{ guardrail_id: 'max_length', phase: 'output', verdict: 'flag', config: { max_chars: 10 } }],
  })
  const order = await person.send('POST', 'completions', { prompt: 'Where is my order?', mode: 'auto' })
  await person.send('POST', 'completions', { prompt: 'My order is late', mode: 'auto' })

  const cellsOf = (page: Awaited<ReturnType<typeof open>>['page']) =>
    page.$$eval('.table-body [role="cell"]', (cells) => cells.map((cell) => cell.textContent))

  test('the lists count what matched and what fired in 30 days', async () => {
    const routing = await open('/me/routing')
    await eventually(
      () => cellsOf(routing.page),
      (cells) => cells.includes('2'),
    )
    expect(await wrongIn(routing.page, 'routing')).toEqual([])
    const guardrails = await open('/me/guardrails')
    await eventually(
      () => cellsOf(guardrails.page),
      (cells) => cells.includes('2 flag'),
    )
    expect(await wrongIn(guardrails.page, 'guardrails')).toEqual([])
    expect([...routing.problems, ...guardrails.problems]).toEqual([])
  })

  test('what fired is drawn and listed, and a wrong one opens its rule with the text', async () => {
    const { page, problems } = await open('/me/guardrails?tab=fired')
    await sees(page, 'Guardrails that fired')
    await sees(page, 'max_length:flag')
    await page.waitForSelector('.table-body a')
    expect(await wrongIn(page, 'fired')).toEqual([])
    await page.click(`.table-body a[href*="${order.body.request_id}"]`)
    await sees(page, 'in the answer')
    expect(await wrongIn(page, 'fired-detail')).toEqual([])
    await press(page, 'This was wrong')
    await sees(page, 'Try a text')
    expect(page.url()).toContain(`/guardrails/${policy.body.id}`)
    const tried = () => page.$eval('.try textarea', (field) => (field as HTMLTextAreaElement).value)
    expect(await eventually(tried, Boolean)).toBe(order.body.content)
    await press(page, 'Check it')
    await sees(page, 'flag')
    expect(problems).toEqual([])
  })

  test('a policy is tried before it is saved, and says which default it would replace', async () => {
    const { page, problems } = await open('/me/guardrails/new')
    await sees(page, 'It takes the place of “Short”')
    await press(page, 'Personal data')
    await write(page, 'Text to check', 'Write to ada@example.com')
    await press(page, 'Check it')
    await eventually(
      () => page.$eval('.try [role="status"]', (box) => box.textContent ?? ''),
      (text) => text.includes('redact') && !text.includes('ada@example.com'),
    )
    await choose(page, 'As', 'output')
    await sees(page, 'No key uses it')
    await page.click('.editor-main .check > input')
    await sees(page, 'for 1 key and the playground: 2 requests in the last 24 hours.')
    expect((await person.send('GET', 'guardrail-policies')).body.guardrail_policies.length).toBe(1)
    expect(await wrongIn(page, 'policy-new')).toEqual([])
    expect(problems).toEqual([])
    expect(preference.status).toBe(201)
  })
})
