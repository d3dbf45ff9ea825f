import { describe, expect, test } from 'bun:test'
import { at, refusals } from '../../support/refusals'
import { createWorld, type Person } from '../../support/world'

const world = await createWorld()
const correct = (who: Person, body: object) => who.send('POST', 'routing-corrections', body)

describe('a routing correction', () => {
  test('keeps a prompt and the mode it should have got', async () => {
    const ada = await world.person()
    const message = { prompt: 'Tot up the invoices', expected_mode: 'data_extraction', note: 'it chatted instead' }
    const { status, body } = await correct(ada, message)
    expect(status).toBe(201)
    const nothing = { completion_id: null, resolved_mode: null, expected_engine: null }
    expect(body).toMatchObject({ object: 'routing_correction', ...message, ...nothing })
    const { body: page } = await ada.send('GET', 'routing-corrections')
    expect(page.routing_corrections.map(({ id }: { id: string }) => id)).toEqual([body.id])
  })

  test('of a completion knows the mode that it got', async () => {
    const ada = await world.person()
    const { id } = (await ada.send('POST', 'completions', { prompt: 'hello', mode: 'roast' })).body
    const { status, body } = await correct(ada, {
      completion_id: id,
      expected_mode: 'fast',
      expected_engine: 'svc-1-edge',
    })
    expect(status).toBe(201)
    expect(body.completion_id).toEqual(id)
    expect(body.resolved_mode).toBe('roast')
    expect(body.expected_engine).toBe('svc-1-roast')
  })

  test('of a completion may name it as chat clients know it', async () => {
    const ada = await world.person()
    const chat = await ada.send('POST', 'chat/completions', { messages: [{ role: 'user', content: 'hello' }] })
    const stream = { messages: [{ role: 'user', content: 'hello' }], stream: true }
    const streamed = /"id":"(chatcmpl_\w+)"/.exec((await ada.send('POST', 'chat/completions', stream)).text)![1]
    for (const completion_id of [chat.body.id, streamed]) {
      const { status, body } = await correct(ada, { completion_id, expected_mode: 'code' })
      expect(status).toBe(201)
      expect(body.completion_id).toEqual(completion_id)
      expect(body.resolved_mode).toBe('fast')
    }
  })

  test('of nobody’s completion, a stranger’s and nonsense is one 404', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const { id } = (await ada.send('POST', 'completions', { prompt: 'hello' })).body
    const answers = []
    for (const completion_id of [id, `cmpl_${'a'.repeat(24)}`, 'nonsense']) {
      const { status, body } = await correct(eve, { completion_id, expected_mode: 'fast' })
      answers.push([status, body.error.code, body.error.message])
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]!.slice(0, 2)).toEqual([404, 'not_found'])
  })

  test('is listed by mode and page, and to its owner only', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    for (const expected_mode of ['code', 'think', 'code']) await correct(ada, { prompt: 'hello', expected_mode })
    const first = (await ada.send('GET', 'routing-corrections?expected_mode=code&limit=1')).body
    expect(first.routing_corrections).toHaveLength(1)
    expect(first.has_more).toBe(true)
    const rest = (await ada.send('GET', `routing-corrections?expected_mode=code&cursor=${first.next_cursor}`)).body
    expect(rest.routing_corrections).toHaveLength(1)
    expect(rest.has_more).toBe(false)
    for (const query of ['', '?expected_mode=code'])
      expect((await eve.send('GET', `routing-corrections${query}`)).body.routing_corrections).toEqual([])
  })
})

const correcting = { world, as: await world.person(), request: 'POST routing-corrections' }
const fine = { prompt: 'hello', expected_mode: 'fast' }
refusals('POST /routing-corrections refuses', correcting, [
  ...at('prompt', { ...fine, prompt: '' }, { ...fine, prompt: ' ' }, { ...fine, prompt: '\n\t' }),
  ['neither prompt nor completion', { expected_mode: 'fast' }, ''],
  ['no mode', { prompt: 'hello' }, ''],
  ['an unknown mode', { ...fine, expected_mode: 'dance' }, ''],
  ['auto', { ...fine, expected_mode: 'auto' }, ''],
  ['an unknown engine', { ...fine, expected_engine: 'x' }, ''],
  ['a prompt of 1,025 characters', { ...fine, prompt: 'x'.repeat(1_025) }, ''],
  [
    'a list of a mode nobody knows',
    undefined,
    '',
    { request: 'GET routing-corrections?expected_mode=zz', param: 'expected_mode' },
  ],
])
