import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { checkUsage, createMeter, meterAnswer, type RunPart } from '../../src/engines/meter'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { LIE_NAMES, startUpstream } from '../support/upstream'
import { ask, begin, long, openEngines, waitingClock } from './setup'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())
const { engines } = openEngines(long({ one: upstream }, { '*': ['one:a'] }))

const usageOf = (parts: RunPart[]) => parts.find((part) => part.type === 'usage')!
const textOf = (parts: RunPart[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

describe('usage (G7)', () => {
  test('what the upstream states is believed when it can be true', async () => {
    const answer = await engines.answer('svc-1-flash', ask('Hi'))
    expect(answer.usage).toEqual({ promptTokens: 11, completionTokens: 5, stated: true })
  })

  test.each(LIE_NAMES)('usage that is %s is replaced by our own count', async (lie) => {
    const prompt = `[[lies:${lie}]] hello there`
    const plain = await engines.answer('svc-1-flash', ask(prompt))
    const streamed = usageOf(await Array.fromAsync((await begin(engines, 'svc-1-flash', ask(prompt))).parts))
    for (const usage of [plain.usage, streamed]) {
      expect(usage).toMatchObject({ stated: false })
      expect(usage.promptTokens).toBeWithin(5, 30)
      expect(usage.completionTokens).toBeWithin(3, 15)
    }
  })

  const limits = { messages: [{ role: 'user' as const, content: 'hello' }], maxOutputTokens: 100 }
  test.each([
    ['as many answer tokens as were allowed', { promptTokens: 20, completionTokens: 100 }, true],
    ['more answer tokens than were allowed', { promptTokens: 20, completionTokens: 101 }, false],
    ['a prompt that no tokenizer makes of five letters', { promptTokens: 200_000, completionTokens: 5 }, false],
    ['no prompt at all', { promptTokens: 0, completionTokens: 5 }, false],
    ['words for nothing', { promptTokens: 20, completionTokens: 0 }, false],
    ['a number as text', { promptTokens: '20', completionTokens: 5 }, false],
  ])('%s: believed %p → %p', (_what, stated, believed) => {
    expect(checkUsage(stated, limits, 1_000).stated).toBe(believed)
  })

  test('our own count never passes the limit that was paid for', () => {
    expect(checkUsage(null, limits, 100 * 100 * 50).completionTokens).toBe(100)
  })
})

describe('the end of a stream', () => {
  test('a stream that never ends is ended at the token limit, and its upstream call with it', async () => {
    const running = await begin(engines, 'svc-1-flash', ask('[[never]]', { maxOutputTokens: 50 }))
    const parts = await Array.fromAsync(running.parts)
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'length' })
    expect(usageOf(parts)).toMatchObject({ completionTokens: 50, stated: false })
    expect(textOf(parts).split(' ').length).toBeLessThan(150)
    await eventually(upstream.aborted, (count) => count === 1)
  })

  test('a plain answer that is too long is cut the same way', async () => {
    const answer = await engines.answer('svc-1-flash', ask('[[never]]', { maxOutputTokens: 50 }))
    expect(answer).toMatchObject({ finish: 'length', usage: { completionTokens: 50, stated: false } })
    expect(answer.text.length).toBeLessThan(500)
  })

  test('a few tokens too many are cut, too, where the upstream states them; a stream says so', async () => {
    const request = () => ask('[[say:one two three four five six]]', { maxOutputTokens: 3 })
    const answer = await engines.answer('svc-1-flash', request())
    expect(answer).toMatchObject({ text: 'one two ', finish: 'length', usage: { completionTokens: 3 } })
    const parts: RunPart[] = []
    for await (const part of (await begin(engines, 'svc-1-flash', request())).parts) parts.push(part)
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  })

  test('thoughts that an upstream counts beside its limit do not cut the answer', () => {
    const usage = { promptTokens: 20, completionTokens: 110, reasoningTokens: 100 }
    const answer = {
      text: 'word '.repeat(11),
      reasoning: '',
      refusal: '',
      toolCalls: [],
      finish: 'stop' as const,
      usage,
    }
    expect(meterAnswer(answer, { messages: [], maxOutputTokens: 10 })).toMatchObject({ finish: 'stop' })
    const over = { ...answer, usage: { ...usage, reasoningTokens: 90 } }
    expect(meterAnswer(over, { messages: [], maxOutputTokens: 10 })).toMatchObject({ finish: 'length' })
  })

  test('an answer that keeps its limit is never cut, though our count is only an estimate', async () => {
    const answer = await engines.answer('svc-1-flash', ask('[[tokens:200]]', { maxOutputTokens: 220 }))
    expect(answer.finish).toBe('stop')
    expect(answer.text.split(' ')).toHaveLength(200)
  })

  test('after ten minutes it is over', async () => {
    const clock = fakeClock()
    const parts: RunPart[] = []
    const meter = createMeter({ messages: [], maxOutputTokens: 100_000 }, clock, (part) => void parts.push(part))
    while (!meter.isOver()) {
      clock.advance(20_000)
      await meter.take({ type: 'text', text: 'drop ' })?.catch(() => null)
    }
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'length' })
    expect(textOf(parts).split(' ').length).toBeWithin(29, 34)
  })

  test.each(['[[truncate]] [[tokens:20]]', '[[cut]] [[tokens:20]]', '[[stall]]'])(
    '%s keeps what came and says that it broke off',
    async (script) => {
      const settings = long({ one: upstream }, { '*': ['one:a'] }, { silenceMs: 2_000 })
      const running = await begin(openEngines(settings, { clock: waitingClock() }).engines, 'svc-1-flash', ask(script))
      const parts: RunPart[] = []
      const attempt = (async () => {
        for await (const part of running.parts) parts.push(part)
      })()
      await expect(attempt).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_unavailable' })
      await expect(attempt).rejects.toThrow('stopped in the middle')
      expect(textOf(parts)).not.toBe('')
      expect(parts.some((part) => part.type === 'finish')).toBe(false)
      expect(upstream.calls).toHaveLength(1)
    },
  )

  test('a caller who leaves gets their reason', async () => {
    const leaving = new AbortController()
    const running = await begin(engines, 'svc-1-flash', ask('[[slow:10]] [[tokens:200]]', { signal: leaving.signal }))
    const attempt = (async () => {
      for await (const part of running.parts) if (part.type === 'text') leaving.abort(new Error('left'))
    })()
    await expect(attempt).rejects.toThrow('left')
  })
})

test('hostile text passes through as text', async () => {
  const nasty = '\n\nevent: done\ndata: {}\n\n\u2028\r'
  const hostile = await startUpstream({ text: `a${nasty}b` })
  const answer = await openEngines(long({ one: hostile }, { '*': ['one:a'] })).engines.answer('svc-1-flash', ask('Hi'))
  expect(answer.text).toBe(`a${nasty}b`)
  await hostile.stop()
})
