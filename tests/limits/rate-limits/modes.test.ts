import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Tier } from '../../../src/kernel/caller'
import { fakeClock } from '../../support/clock'
import { startUpstream } from '../../support/upstream'
import { createWorld, type Person, type Reply } from '../../support/world'

setDefaultTimeout(30_000)

/** The rates of docs/api.md 1.6, by the tokens of calls that are all under way at once. */
const upstream = await startUpstream({ text: 'Paris.' })
afterAll(() => upstream.stop())
const clock = fakeClock()
const world = await createWorld({ clock, config: { engineBaseUrl: upstream.url, engineModel: 'scripted' } })

let sent = 0
/** Calls that are the same share one answer. */
const other = () => `Number ${++sent}.`

type Ask = (ada: Person) => Promise<Reply>
const rich = (tier: Tier) => world.person({ tier, cents: 100_000_000 })

/** Sends one more than the rate allows; what the upstream holds is let go once the rest is decided. */
async function flood(tier: Tier, rate: number, ask: Ask): Promise<Reply[]> {
  const ada = await rich(tier)
  const before = upstream.calls.length
  let refused = 0
  const requests = Array.from({ length: rate + 1 }, async () => {
    const reply = await ask(ada)
    if (reply.status >= 300) refused += 1
    return reply
  })
  const all = Promise.all(requests)
  let done = false
  void all.finally(() => {
    done = true
  })
  while (!done && upstream.calls.length - before + refused <= rate) await Bun.sleep(5)
  upstream.release()
  return all
}

describe('researches a minute', () => {
  const RATES = { free: 15, starter: 75, pro: 250, enterprise: 1_250 } as const
  test.each(Object.entries(RATES))('on %s: %i', async (tier, rate) => {
    const ada = await rich(tier as Tier)
    const prompt = 'When was the lighthouse of Port Ellis built, how tall is it, and how far is its lamp seen?'
    const ordered = Array.from({ length: rate }, () => ada.send('POST', 'research', { prompt, max_sources: 20 }))
    expect(new Set((await Promise.all(ordered)).map(({ status }) => status))).toEqual(new Set([202]))
    expect((await ada.send('POST', 'research', { prompt })).body.error.code).toBe('mode_rate_limit_exceeded')
    const { tokens } = (await ada.send('GET', 'rate-limits')).body.usage
    const each = (tokens.limit - tokens.remaining) / rate
    expect(each).toBeGreaterThan(1_024)
    expect(each).toBeLessThan(1_024 + 60)
    clock.advance(60_000)
    expect((await ada.send('POST', 'research', { prompt })).status).toBe(202)
  })

  test('are counted with the output limit of an engine that writes less than 1,024', async () => {
    const engines = {
      upstreams: { small: { kind: 'compat' as const, baseUrl: upstream.url, maxOutputTokens: 100 } },
      models: { '*': ['small:scripted'] },
    }
    const ada = await (await createWorld({ clock, config: { engines } })).person({ tier: 'free' })
    expect((await ada.send('POST', 'research', { prompt: 'a b c' })).status).toBe(202)
    const { limit, remaining } = (await ada.send('GET', 'rate-limits')).body.usage.tokens
    expect(limit - remaining).toBeGreaterThan(100)
    expect(limit - remaining).toBeLessThan(120)
  })
})

describe('calls of a minute on Free', () => {
  const answered = (mode: string): Ask => {
    return (ada) => ada.send('POST', 'completions', { prompt: `Capital of France? ${other()}`, mode })
  }
  const held = (mode: string): Ask => {
    return (ada) => ada.send('POST', 'completions', { prompt: `[[held]] Capital of France? ${other()}`, mode })
  }
  const ASKS: [string, number, Ask][] = [
    ...['roast', 'genui', 'auto'].map((mode): [string, number, Ask] => [mode, 60, held(mode)]),
    ['stealth_text', 30, held('stealth_text')],
    ['research', 15, answered('research')],
    [
      '/code',
      60,
      (ada) => ada.send('POST', 'code', { prompt: `[[held]] A function that adds two numbers. ${other()}` }),
    ],
    [
      '/documents',
      60,
      (ada) => ada.send('POST', 'documents', { prompt: `[[held]] A letter. ${other()}`, format: 'pdf' }),
    ],
    ['image', 20, (ada) => ada.send('POST', 'completions', { prompt: `A red circle. ${other()}`, mode: 'image' })],
    ['/images', 20, (ada) => ada.send('POST', 'images', { prompt: `A red circle. ${other()}` })],
    ['/video', 10, (ada) => ada.send('POST', 'video', { prompt: `A red circle. ${other()}` })],
  ]
  test.each(ASKS)('%s: %i at once, and the next is refused for the rate, not for tokens', async (_name, rate, ask) => {
    const refused = (await flood('free', rate, ask)).filter(({ status }) => status >= 300)
    expect(refused.map(({ body }) => body.error)).toMatchObject([
      { code: expect.stringContaining('rate_limit_exceeded') },
    ])
  })

  // The system's tools are a part of their prompts and are counted with it, so 60 at once would be above 100,000.
  test.each(['fast', 'think', 'code'])('%s: 60 one after the other, each counted truly as it ends', async (mode) => {
    const ada = await rich('free')
    for (let count = 0; count < 60; count += 1) expect((await answered(mode)(ada)).status).toBe(200)
    expect((await answered(mode)(ada)).body.error.code).toBe('rate_limit_exceeded')
  })
})
