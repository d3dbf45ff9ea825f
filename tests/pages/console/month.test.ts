import { expect, test } from 'bun:test'
import { usageRecords } from '../../../src/usage/table'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

const HOUR_MS = 3_600_000
const DAYS = 60
/** Mode, engine, its share of the calls, milliseconds of an answer, micro-cents of a token. */
const MODES = [
  ['fast', 'svc-1-flash', 6, 420, 60],
  ['think', 'svc-1-think', 2, 3_900, 900],
  ['code', 'svc-1-code', 1.5, 2_300, 600],
  ['research', 'svc-1-research', 0.5, 9_000, 1_400],
] as const

/** The same numbers in every run, from 0 to 1. */
function numbers() {
  let state = 42
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** Calls of two months: many by day and few by night and on Sundays, more each week. */
function callsOfTwoMonths(owner: string, user_id: string, keys: readonly string[], now: number) {
  const next = numbers()
  return Array.from({ length: DAYS * 24 - 1 }, (_, hour) => {
    const from = now - (DAYS * 24 - hour) * HOUR_MS
    const date = new Date(from)
    const daily = 1 + Math.sin(((date.getUTCHours() - 9) / 24) * 2 * Math.PI)
    const many = Math.round(9 * daily * (date.getUTCDay() % 6 ? 1 : 0.4) * (0.5 + hour / (DAYS * 24)) * (0.7 + next()))
    return MODES.flatMap(([mode, model, share, ms, price]) =>
      Array.from({ length: Math.round((many * share) / 10 + next() / 2) }, () => {
        const [prompt_tokens, completion_tokens] = [Math.round(200 + next() * 1_800), Math.round(60 + next() * 700)]
        const status = next() < 0.985 ? 200 : next() < 0.7 ? 429 : 502
        const cached = status === 200 && next() < 0.12
        const isFree = cached || status !== 200
        return {
          owner,
          user_id,
          at: Math.round(from + next() * HOUR_MS),
          request_id: `req_${hour}${next()}`,
          api_key_id: keys[next() < 0.7 ? 0 : 1],
          endpoint: '/completions',
          mode: next() < 0.6 ? 'auto' : mode,
          resolved_mode: mode,
          model,
          status,
          prompt_tokens: status === 200 ? prompt_tokens : 0,
          completion_tokens: status === 200 ? completion_tokens : 0,
          cost_micro: isFree ? 0 : (prompt_tokens + 4 * completion_tokens) * price,
          cached,
          latency_ms: Math.round(cached ? 4 : ms * (0.4 + next() ** 3 * 4)),
          fallback_used: next() < 0.02,
        }
      }),
    )
  }).flat()
}

inChromium('a month in the console', async () => {
  const { open, person, world } = await createConsole()
  const owner = `user:${person.userId}` as const
  const { body: second } = await person.send('POST', 'keys', { name: 'support bot' })
  const rows = callsOfTwoMonths(owner, person.userId, [person.keyId, second.id], Date.now())
  await world.app.store.write(async (tx) => {
    for (let from = 0; from < rows.length; from += 500)
      await tx.insert(tx.of(usageRecords)).values(rows.slice(from, from + 500) as never)
  })

  test('the overview counts every call of a period, and draws them by mode', async () => {
    const to = new Date().setUTCHours(0, 0, 0, 0)
    const from = to - 28 * 24 * HOUR_MS
    const within = rows.filter(({ at }) => at >= from && at < to)
    const { page, problems } = await open(`/me?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`)
    await sees(page, `Requests${within.length.toLocaleString('en-US')}`)
    const refused = within.filter(({ status }) => status === 429).length
    await sees(page, `${refused} refused`)
    await page.waitForSelector('.legend button')
    const series = await page.$$eval('.legend button', (all) => all.map(({ textContent }) => textContent))
    expect(series).toEqual(expect.arrayContaining(MODES.map(([mode]) => mode)))
    await press(page, '30 d')
    await page.waitForFunction(() => location.search === '?range=30d')
    await page.waitForSelector('.u-wrap')
    expect(await wrongIn(page, 'overview-month')).toEqual([])
    expect(problems).toEqual([])
  })

  test('the list of requests has the trace of one with a tool and a guardrail', async () => {
    await person.send('POST', 'guardrail-policies', {
      name: 'Short',
      is_default: true,
      rules: [{ guardrail_id: 'max_length', phase: 'output', verdict: 'flag', config: { max_chars: 10 } }],
    })
    const input_schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    const weather = { name: 'get_weather', description: 'Weather of a city', input_schema }
    const call = { prompt: "What's the weather in Paris?", mode: 'auto', tools: [weather] }
    const { status, body } = await person.send('POST', 'completions', call)
    expect(status).toBe(200)
    const { page, problems } = await open(`/me/requests/${body.request_id}?range=30d`)
    await sees(page, 'get_weather')
    await page.waitForSelector('.table-body .tr')
    expect(await wrongIn(page, 'requests-month')).toEqual([])
    expect(problems).toEqual([])
  })
})
