import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from '../../completions/upstream-world'
import { fakeClock } from '../../support/clock'
import { createWorld, type Person } from '../../support/world'

const DAY = 86_400_000
const clock = fakeClock()
const world = await createWorld({ clock })

const suggest = (who: Person, expected_mode = 'data_extraction') =>
  who.send('POST', 'routing-preferences/suggest-rule', { expected_mode })

async function correct(who: Person, prompts: readonly string[], expected_mode = 'data_extraction'): Promise<string[]> {
  const ids: string[] = []
  for (const prompt of prompts) {
    ids.push((await who.send('POST', 'routing-corrections', { prompt, expected_mode })).body.id)
  }
  return ids
}
const INVOICES = ['Tot up the overdue invoices', 'Which invoices are OVERDUE?', 'list every invoices line, please']

describe('a suggested rule', () => {
  test('is an alternation of the most frequent words of the corrections, at 0.88', async () => {
    const ada = await world.person()
    const ids = await correct(ada, INVOICES)
    const { status, body } = await suggest(ada)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      suggested_rule: {
        pattern: '\\b(?:invoices|overdue)\\b',
        target_mode: 'data_extraction',
        confidence: 0.88,
        description: 'Says invoices, overdue',
      },
      confidence: 0.88,
    })
    expect(body.source_correction_ids.toSorted()).toEqual(ids.toSorted())
  })

  test('can be saved as it is, and then routes what it was made from', async () => {
    const ada = await world.person()
    await correct(ada, INVOICES)
    const rules = [(await suggest(ada)).body.suggested_rule]
    expect((await ada.send('POST', 'routing-preferences', { name: 'Learnt', rules, is_default: true })).status).toBe(
      201,
    )
    const { body } = await ada.send('POST', 'completions', { prompt: INVOICES[1], mode: 'auto' })
    expect(body).toMatchObject({ resolved_mode: 'data_extraction', routing: { source: 'rule' } })
  })

  test('finds what it was made from, whatever becomes of its letters when they are small', async () => {
    const ada = await world.person()
    const ids = await correct(ada, ['İstanbul by night', 'Show İstanbul', 'İstanbul from above'])
    const { status, body } = await suggest(ada)
    expect(status).toBe(200)
    expect(body.source_correction_ids.toSorted()).toEqual(ids.toSorted())
  })

  test('can be saved although two of its words beside each other would name a vendor', async () => {
    const ada = await world.person()
    await correct(ada, ['deep mind work', 'deep mind work', 'deep mind'])
    const rules = [(await suggest(ada)).body.suggested_rule]
    expect((await ada.send('POST', 'routing-preferences', { name: 'Learnt', rules })).status).toBe(201)
  })

  test('has six words at most, none of them a name of a vendor, a stop word, or short', async () => {
    const ada = await world.person()
    const words = 'openai alpha bravo charlie delta echoes foxtrot golf the and with und an ok'
    await correct(ada, [words, words, words])
    expect((await suggest(ada)).body.suggested_rule.pattern).toBe('\\b(?:alpha|bravo|charlie|delta|echoes|foxtrot)\\b')
  })

  test('has boundaries of its own around words that are not Latin', async () => {
    const ada = await world.person()
    const prompts = ['Übersicht der Zahlen', 'eine übersicht bitte', 'die Übersicht']
    await correct(ada, prompts)
    const { pattern } = (await suggest(ada)).body.suggested_rule
    const preview = (prompt: string) =>
      ada.send('POST', 'routing-preferences/preview', { prompt, rules: [{ pattern, target_mode: 'code' }] })
    expect((await preview(prompts[1]!)).body.source).toBe('rule')
    expect((await preview('Gesamtübersichten')).body.source).not.toBe('rule')
  })

  test('is not made of what somebody else corrected, of other modes, or of what is 30 days old', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await correct(ada, INVOICES)
    expect((await suggest(eve)).status).toBe(404)
    expect((await suggest(ada, 'code')).status).toBe(404)
    clock.advance(30 * DAY + 1)
    expect((await suggest(ada)).status).toBe(404)
  })

  test('needs three corrections: none is 404, one and two are 400', async () => {
    const ada = await world.person()
    const outcomes = []
    for (const prompt of ['', ...INVOICES]) {
      if (prompt) await correct(ada, [prompt])
      const { status, body } = await suggest(ada)
      outcomes.push([status, body.error?.code])
    }
    const below = [400, 'routing_suggest_below_threshold']
    expect(outcomes).toEqual([[404, 'not_found'], below, below, [200, undefined]])
  })

  test('is 404 when the corrections share no word and no engine is connected', async () => {
    const ada = await world.person()
    await correct(ada, ['one thing', 'quite another', 'third matter'])
    const { status, body } = await suggest(ada)
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: 'not_found' })
  })

  test('of metacharacters and very many corrections compiles and is short (K14)', async () => {
    const ada = await world.person()
    const prompt = `a.*b (c|d) [e]+ $^ \\ ${'häßlich+ regex? '.repeat(60)}`.slice(0, 1_024)
    await correct(
      ada,
      Array.from({ length: 200 }, () => prompt),
    )
    const { body } = await suggest(ada)
    expect(body.suggested_rule.pattern.length).toBeLessThanOrEqual(512)
    expect(() => new RegExp(body.suggested_rule.pattern, 'iu')).not.toThrow()
  })

  test('for a mode nobody knows is refused', async () => {
    const { status, body } = await suggest(await world.person(), 'dance')
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })
})

const APART = ['plot 11', 'plott 22', 'plotz 33']

describe('an engine that proposes a pattern', () => {
  test.each<[string, string, number, string | undefined]>([
    ['a sound one', '{"pattern":"\\\\bplot\\\\w*\\\\s+\\\\d+"}', 200, undefined],
    ['one that does not compile', '{"pattern":"("}', 404, 'not_found'],
    ['one that names a vendor', '{"pattern":"op[e]nai|plot"}', 404, 'not_found'],
    ['one that matches everything', '{"pattern":".*"}', 404, 'not_found'],
    ['one that matches nothing of it', '{"pattern":"giraffe"}', 404, 'not_found'],
    ['no JSON', 'plot, I would say', 404, 'not_found'],
  ])('%s', async (_, text, status, code) => {
    const ada = await (await createUpstreamWorld({ upstream: { text } })).world.person()
    await correct(ada, APART)
    const reply = await suggest(ada)
    expect({ status: reply.status, code: reply.body.error?.code }).toEqual({ status, code })
    if (status !== 200) return
    expect(reply.body).toMatchObject({
      confidence: 0.78,
      warnings: [expect.stringContaining('below the floor of 0.85')],
      suggested_rule: { confidence: 0.78, target_mode: 'data_extraction' },
    })
    expect(reply.body.source_correction_ids).toHaveLength(3)
  })
})

describe('what goes to the engine that proposes', async () => {
  const { world: connected, upstream } = await createUpstreamWorld({ upstream: { text: '{"pattern":"\\\\bplot"}' } })

  async function suggestedUnder(verdict: string, more: { cents?: number } = {}) {
    const ada = await connected.person(more)
    const rules = [{ guardrail_id: 'blocked_terms', phase: 'input', verdict, config: { terms: ['plotz'] } }]
    await ada.send('POST', 'guardrail-policies', { name: 'Mine', rules, is_default: true })
    await correct(ada, APART)
    const { billing, store } = connected.app.container
    const creditOf = async () => (await billing.balance(store.read, `user:${ada.userId}`)).balance
    const [before, credit] = [upstream.calls.length, await creditOf()]
    const { status, body } = await suggest(ada)
    return { status, body, asked: upstream.calls.slice(before), paid: credit - (await creditOf()) }
  }

  test('is nothing where a guardrail blocks one of the prompts, and nothing is charged', async () => {
    const { status, body, asked: requests, paid } = await suggestedUnder('block')
    expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'guardrail_blocked', param: 'corrections' })
    expect({ requests: requests.length, paid }).toEqual({ requests: 0, paid: 0 })
  })

  test('has taken out what a guardrail redacts', async () => {
    const { status, asked: requests } = await suggestedUnder('redact')
    expect({ status, requests: requests.length }).toEqual({ status: 200, requests: 1 })
    const [notice] = (requests[0]!.body.messages as { content: string }[]).slice(-1)
    expect(notice!.content.split('\n').sort()).toEqual(['"[REDACTED:blocked_term] 33"', '"plot 11"', '"plott 22"'])
  })

  test('is nothing for a caller without credit', async () => {
    const { status, body, asked: requests } = await suggestedUnder('flag', { cents: 0 })
    expect(status).toBe(402)
    expect(body.error.code).toBe('insufficient_credits')
    expect(requests).toHaveLength(0)
  })
})
