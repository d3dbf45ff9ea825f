import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import type { JsonSchema } from '../../../src/engines/engine'
import { effortOf } from '../../support/effort'
import { createWorld } from '../../support/world'
import { ask } from './ask'

const INVOICE =
  'Invoice number: A-17\nTotal: $1,250.00\nDue date: 2026-01-05\nContact: ada@example.com\nPaid: yes\nItems: anvils, hammers'

const fill = async (schema: JsonSchema, text: string): Promise<unknown> =>
  JSON.parse(await ask(text, { json: { schema } }))

describe('a JSON schema', () => {
  test('is filled from what the text states', async () => {
    const schema = {
      type: 'object',
      properties: {
        invoiceNumber: { type: 'string' },
        total: { type: 'number' },
        due_date: { type: 'string', format: 'date' },
        email: { type: 'string', format: 'email' },
        paid: { type: 'boolean' },
        items: { type: 'array', items: { type: 'string' } },
        currency: { type: ['string', 'null'] },
        state: { enum: ['open', 'paid'] },
        note: { type: 'string' },
      },
      required: ['invoiceNumber', 'total', 'currency', 'state'],
    }
    expect(await fill(schema, INVOICE)).toEqual({
      invoiceNumber: 'A-17',
      total: 1250,
      due_date: '2026-01-05',
      email: 'ada@example.com',
      paid: true,
      items: ['anvils', 'hammers'],
      currency: null,
      state: 'paid',
    })
  })

  const schemas: [string, JsonSchema][] = [
    [
      'nested objects',
      {
        type: 'object',
        properties: { a: { type: 'object', properties: { b: { type: ['integer', 'null'] } }, required: ['b'] } },
        required: ['a'],
      },
    ],
    [
      'a list of objects',
      {
        type: 'object',
        properties: {
          rows: {
            type: 'array',
            minItems: 2,
            items: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] },
          },
        },
        required: ['rows'],
      },
    ],
    [
      'references',
      {
        type: 'object',
        properties: { who: { $ref: '#/$defs/person' } },
        required: ['who'],
        $defs: { person: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
      },
    ],
    [
      'a recursive reference',
      { type: 'object', properties: { v: { type: 'string' }, next: { $ref: '#' } }, required: ['v'] },
    ],
    [
      'a union',
      { type: 'object', properties: { x: { anyOf: [{ type: 'null' }, { type: 'string' }] } }, required: ['x'] },
    ],
    ['a constant', { type: 'object', properties: { kind: { const: 'invoice' } }, required: ['kind'] }],
    ['a bare list', { type: 'array', items: { type: 'string' } }],
    ['the only word of an enum', { enum: ['a'] }],
    ['a word that says nothing', { enum: ['a', 'Unknown'] }],
    ['a word or null', { enum: ['a', 'b', null] }],
  ]

  test.each(schemas)('with %s is answered by JSON that fits it, whatever the text', async (_what, schema) => {
    const fits = Compile(schema as never)
    for (const text of ['nothing here', INVOICE, '']) expect(fits.Check(await fill(schema, text))).toBe(true)
  })
})

describe('what the text does not state', () => {
  const state = { enum: ['open', 'paid'] }
  const row = { type: 'object', properties: { state, note: { type: 'string' } }, required: ['state', 'note'] }
  const unstated = {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 3 },
      share: { type: 'number' },
      urgent: { type: 'boolean' },
      code: { type: 'string', minLength: 4 },
      notes: { type: 'array', items: { type: 'string' } },
    },
    required: ['count', 'share', 'urgent', 'code', 'notes'],
  }

  test.each([
    ['a required word of a list is left out', row, { note: '' }],
    ['so it is in what is inside', { type: 'object', properties: { row }, required: ['row'] }, { row: { note: '' } }],
    ['numbers, flags and texts that may not be empty are left out', unstated, { notes: [] }],
    ['a list has no item', { type: 'array', items: state, minItems: 2 }, []],
    ['a list has no number', { type: 'array', items: { type: 'number' }, minItems: 2 }, []],
    ['a value alone is null', state, null],
    ['so is a number', { type: 'number', minimum: 1 }, null],
  ])('is not invented: %s', async (_what, schema, value) => {
    expect(await fill(schema, 'nothing of it here')).toEqual(value)
  })

  test('is filled where it does', async () => {
    expect(await fill(row, 'The bill was paid.')).toEqual({ state: 'paid', note: '' })
    expect(await fill(unstated, 'Code: AB12\nCount: 5\nShare: 0.5\nUrgent: no\nNotes: one')).toEqual({
      ...{ count: 5, share: 0.5, urgent: false, code: 'AB12', notes: ['one'] },
    })
  })

  test('is named in the refusal that a caller gets', async () => {
    const ada = await (await createWorld()).person()
    const json_schema = { name: 'bill', schema: row }
    const { status, body } = await ada.send('POST', 'chat/completions', {
      messages: [{ role: 'user', content: 'Tell me of the bill.' }],
      response_format: { type: 'json_schema', json_schema },
    })
    expect(status).toBe(200)
    const { refusal } = body.choices[0].message
    expect(refusal).toContain('The answer does not fit the response format')
    expect(refusal).toContain('state')
  })
})

test('a schema that refers to itself everywhere costs no time', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#' }]))
  const effort = await effortOf(async () => {
    await ask(INVOICE, { json: { schema: { type: 'object', properties } } })
    await ask(INVOICE, { json: { schema: { type: 'object', properties, required: names } } })
  })
  expect(effort).toBeLessThan(500)
})

test('extraction without a schema gives what has a form, and says when nothing has', async () => {
  const found = JSON.parse(await ask(INVOICE, { mode: 'data_extraction' }))
  expect(found).toMatchObject({ invoice_number: 'A-17', total: '$1,250.00', emails: ['ada@example.com'] })
  const none = JSON.parse(await ask('so it goes', { mode: 'data_extraction' }))
  expect(none.note).toContain('no language model is connected')
})

test('an analysis counts and quotes, and recommends nothing', async () => {
  const text = 'The market for scooters grew in 2025. Scooters are popular. Prices fell to $300.'
  const analysis = JSON.parse(await ask(text, { mode: 'domain_analysis' }))
  expect(analysis).toMatchObject({ domain: 'unknown', recommendations: [] })
  expect(text).toContain(analysis.summary.split('. ')[0])
})

test('any JSON object that is requested literally is returned', async () => {
  expect(JSON.parse(await ask('Give the JSON object {"ok": true}.', { json: true }))).toEqual({ ok: true })
  expect(JSON.parse(await ask('Give me {broken', { json: true }))).toHaveProperty('note')
})
